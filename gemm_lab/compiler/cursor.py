"""A position in bytes that are read from front to back, in the encodings of DWARF (version 2, section 7)."""

from __future__ import annotations


class Cursor:
    """Reads `data` from `position` on, and moves on."""

    def __init__(self, data: bytes, position: int = 0):
        self.data, self.position = data, position

    def take(self, size: int) -> bytes:
        self.position += size
        return self.data[self.position - size:self.position]

    def number(self, size: int, signed: bool = False) -> int:
        """A number of so many bytes, the lowest first."""
        return int.from_bytes(self.take(size), "little", signed=signed)

    def uleb(self) -> int:
        """An unsigned number, seven bits in a byte, the lowest first; the eighth bit says that more follow."""
        return self._leb()[0]

    def sleb(self) -> int:
        """The same with a sign, which is the highest of all the bits."""
        value, bits = self._leb()
        return value - (value >> bits - 1 << bits)

    def _leb(self) -> tuple[int, int]:
        """The bits as an unsigned number, and how many there are."""
        value, bits = 0, 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 127) << bits
            bits += 7
            if byte < 128:
                return value, bits

    def string(self) -> str:
        """Text up to a zero, which is read, too."""
        end = self.data.index(0, self.position)
        text = self.data[self.position:end].decode("utf-8", "replace")
        self.position = end + 1
        return text
