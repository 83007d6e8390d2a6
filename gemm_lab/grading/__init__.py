"""Grading: submissions found and scored in processes of their own, and what is written about them.

Nothing that a student wrote is trusted. A submission is read as data in a fresh process (scoring.py) under limits of
time and memory (pool.py), which takes CUDA text and literal answers out of it; CUDA is compiled and emulated, and
Python is run in a sandbox without the course and without a network (sandbox.py), for the tasks that ask for a function.
"""
