/**
 * What a start has opened: it is closed, the last first, unless the start comes to its end. Node has an
 * `AsyncDisposableStack` from version 24 on, and the package runs on 22.18.
 */
export class Opened {
  #closings: (() => unknown)[] = []

  /** The thing itself, which is to be closed so. */
  adopt<Thing>(thing: Thing, close: (thing: Thing) => unknown): Thing {
    this.#closings.push(() => close(thing))
    return thing
  }

  /** From now on the caller closes all of it. */
  handOver(): void {
    this.#closings = []
  }

  /** All are closed, though one cannot be: then it rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    const close = this.#closings.pop()
    if (close === undefined) return
    try {
      await close()
    } finally {
      await this[Symbol.asyncDispose]()
    }
  }
}
