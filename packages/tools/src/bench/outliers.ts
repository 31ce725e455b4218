/** Above it a value is far from the others (Iglewicz and Hoaglin 1993; NIST/SEMATECH e-Handbook, 1.3.5.17). */
const FAR = 3.5
/** What makes the median absolute deviation of normal values their standard deviation. */
const NORMAL = 0.6745
/** The same for the mean absolute deviation: sqrt(2 / pi). Used where most values are equal. */
const NORMAL_OF_MEAN = 0.797885
/** Nearer to the median than that, nothing is marked: repeats that hardly differ have outliers by any such rule. */
const LEAST_SHARE = 0.01
/** Of fewer values nobody can say which is the odd one. */
const LEAST_VALUES = 4

export const OUTLIER_RULE =
  'a modified z-score above 3.5 (by the median absolute deviation) and more than 1 % from the median; marked, and in all means'

/** For each value, why it is marked as far from the others; undefined where it is not. */
export function outliers(values: readonly number[]): (string | undefined)[] {
  if (values.length < LEAST_VALUES) return values.map(() => undefined)
  const middle = median(values)
  const deviations = values.map((value) => Math.abs(value - middle))
  const ofMedian = median(deviations)
  const mean = deviations.reduce((sum, each) => sum + each, 0) / values.length
  const unit = ofMedian > 0 ? ofMedian / NORMAL : mean / NORMAL_OF_MEAN
  return deviations.map((deviation) => {
    const score = unit > 0 ? deviation / unit : 0
    if (score <= FAR || deviation <= LEAST_SHARE * Math.abs(middle)) return undefined
    return `modified z-score ${score.toFixed(1)}`
  })
}

/** The middle value, or the mean of the two in the middle. @throws RangeError without any. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('median: expected at least one value, got none')
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}
