/** Returns the CPU time of this process so far, including system time, in seconds. */
export function cpuSecondsNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
