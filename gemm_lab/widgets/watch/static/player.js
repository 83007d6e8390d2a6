// What is shown: a scene, a position in it, a thread that is followed. Views listen; nothing here touches the page.

export class Player {
  constructor(scene) {
    this.views = [];
    this.playing = false;
    this.speed = 8;
    this.picked = null; // a cell whose history is shown: {array, element}
    this.guesses = null; // cells, banks or warps that the viewer expects next
    this.load(scene);
  }

  load(scene) {
    this.scene = scene;
    this.position = 0;
    this.thread = Math.min(scene.meta.thread, scene.threads - 1);
    this.picked = this.guesses = null;
    this.tell("scene");
  }

  listen(view) {
    this.views.push(view);
  }

  // what: "scene", "thread", "marks" or "step". Whoever listens redraws what depends on it.
  tell(what) {
    for (const view of this.views) view(what);
  }

  get last() {
    return this.scene.steps - 1;
  }

  go(position) {
    const to = Math.max(0, Math.min(this.last, Math.round(position)));
    if (to === this.position) return;
    this.position = to;
    this.tell("step");
  }

  follow(thread) {
    this.thread = Math.max(0, Math.min(this.scene.threads - 1, thread));
    this.tell("thread");
  }

  pick(cell) {
    const same = cell && this.picked && cell.array === this.picked.array && cell.element === this.picked.element;
    this.picked = same ? null : cell;
    this.tell("marks");
  }

  // One step on. Somebody who predicts is judged first.
  forward() {
    this.judge?.();
    this.go(this.position + 1);
  }

  guess(kind, key) {
    if (!this.guesses[kind].delete(key)) this.guesses[kind].add(key);
    this.tell("marks");
  }

  nextPhase() {
    this.go(this.scene.nextPhase(this.position));
  }
  previousPhase() {
    this.go(this.scene.previousPhase(this.position));
  }

  play(on = !this.playing) {
    if (on && this.position === this.last) this.go(0);
    this.playing = on;
    this.tell("playing");
    if (!on) return;
    let before = performance.now();
    let owed = 0;
    const frame = now => {
      if (!this.playing) return;
      owed += (Math.min(now - before, 250) * this.speed) / 1000;
      before = now;
      if (owed >= 1) {
        this.go(this.position + Math.floor(owed));
        owed %= 1;
      }
      if (this.position === this.last) this.play(false);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}
