/** Version of a driver release: '580.142', '580.65.06'. */
const VERSION = /^\d{3}\.\d{1,3}(?:\.\d{1,2})?$/

export function isDriverVersion(text: string): boolean {
  return VERSION.test(text)
}

/** Compares numerically: '580.65.06' is before '580.142'. @returns a negative number if `a` is before `b`. */
export function compareVersions(a: string, b: string): number {
  const [as, bs] = [a.split('.').map(Number), b.split('.').map(Number)]
  for (let index = 0; index < Math.max(as.length, bs.length); index++) {
    const difference = (as[index] ?? 0) - (bs[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

export function isAtLeast(version: string, first: string): boolean {
  return compareVersions(version, first) >= 0
}
