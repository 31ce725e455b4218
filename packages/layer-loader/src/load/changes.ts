import { deferred } from './deferred.js'

/** Notifies watchers of changes. A watcher that is busy meanwhile is notified once, of the latest change. */
export class Changes {
  private count = 0
  private next = deferred<undefined>()
  private isOver = false

  notify(): void {
    this.count++
    this.next.resolve(undefined)
    this.next = deferred()
  }

  /** Publishes the last change. */
  end(): void {
    this.isOver = true
    this.notify()
  }

  /** Yields the result of `read` after each change; changes in quick succession are merged. */
  async *watch<T>(read: () => T): AsyncGenerator<T, undefined> {
    let seen = this.count
    while (!this.isOver || seen !== this.count) {
      if (seen === this.count) await this.next.promise
      seen = this.count
      yield read()
    }
  }
}
