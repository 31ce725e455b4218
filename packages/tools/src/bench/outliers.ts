/** Scores above it mark outliers (Iglewicz and Hoaglin 1993; NIST/SEMATECH e-Handbook, 1.3.5.17). */
const FAR = 3.5
/** Scales the median absolute deviation to the standard deviation of normal values. */
const NORMAL = 0.6745
/** The same for the mean absolute deviation: sqrt(2 / pi). Used if most values are equal. */
const NORMAL_OF_MEAN = 0.797885
/** Minimum relative distance from the median: otherwise nearly equal repeats would have outliers. */
const MIN_SHARE = 0.01
/** With fewer values, no outlier can be identified. */
const MIN_VALUES = 4

export const OUTLIER_RULE =
  'a modified z-score above 3.5 (by the median absolute deviation) and more than 1 % from the median; marked, but included in all means'

/** Returns why each value is an outlier; undefined if it is not. */
export function outliers(values: readonly number[]): (string | undefined)[] {
  if (values.length < MIN_VALUES) return values.map(() => undefined)
  const middle = median(values)
  const deviations = values.map((value) => Math.abs(value - middle))
  const ofMedian = median(deviations)
  const mean = deviations.reduce((sum, each) => sum + each, 0) / values.length
  const unit = ofMedian > 0 ? ofMedian / NORMAL : mean / NORMAL_OF_MEAN
  return deviations.map((deviation) => {
    const score = unit > 0 ? deviation / unit : 0
    if (score <= FAR || deviation <= MIN_SHARE * Math.abs(middle)) return undefined
    return `modified z-score ${score.toFixed(1)}`
  })
}

/** Returns the middle value, or the mean of the two middle ones. @throws RangeError without values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('median: expected at least one value, got none')
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}
