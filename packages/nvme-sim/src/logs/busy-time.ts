/** Time during which at least one I/O command was outstanding. */
export class BusyTime {
  private outstanding = 0
  private sinceNs = 0
  private endedNs = 0

  begin(nowNs: number): void {
    if (this.outstanding++ === 0) this.sinceNs = nowNs
  }

  end(nowNs: number): void {
    if (this.outstanding > 0 && --this.outstanding === 0) this.endedNs += nowNs - this.sinceNs
  }

  /** Reset: no command is outstanding. */
  reset(nowNs: number): void {
    this.endedNs = this.total(nowNs)
    this.outstanding = 0
  }

  /** Nanoseconds up to now. */
  total(nowNs: number): number {
    return this.endedNs + (this.outstanding > 0 ? nowNs - this.sinceNs : 0)
  }
}
