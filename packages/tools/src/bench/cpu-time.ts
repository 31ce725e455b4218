/** CPU time of this process so far, the kernel's work for it included, in seconds. */
export function cpuSecondsNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
