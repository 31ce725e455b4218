import { deferred } from './deferred.js'

/** Tells whoever waits that something has changed; who was busy meanwhile hears of the newest change, once. */
export class Changes {
  private count = 0
  private next = deferred<undefined>()
  private isOver = false

  notify(): void {
    this.count++
    this.next.resolve(undefined)
    this.next = deferred()
  }

  /** After this change there is none. */
  end(): void {
    this.isOver = true
    this.notify()
  }

  /** What `read` gives after each change from now on, or after several that came together. */
  async *watch<T>(read: () => T): AsyncGenerator<T, undefined> {
    let seen = this.count
    while (!this.isOver || seen !== this.count) {
      if (seen === this.count) await this.next.promise
      seen = this.count
      yield read()
    }
  }
}
