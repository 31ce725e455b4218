/** Equal servers; the first free one takes the next job. A heap of the times at which they are free. */
export class Units {
  private readonly freeNs: Float64Array

  constructor(count: number) {
    this.freeNs = new Float64Array(count)
  }

  /** Returns when a job of `lengthNs` that is ready at `readyNs` is done. */
  serve(readyNs: number, lengthNs: number): number {
    const { freeNs } = this
    const endNs = Math.max(readyNs, freeNs[0]!) + lengthNs
    let hole = 0
    for (let child = 1; child < freeNs.length; child = 2 * hole + 1) {
      if (child + 1 < freeNs.length && freeNs[child + 1]! < freeNs[child]!) child++
      if (freeNs[child]! >= endNs) break
      freeNs[hole] = freeNs[child]!
      hole = child
    }
    freeNs[hole] = endNs
    return endNs
  }
}
