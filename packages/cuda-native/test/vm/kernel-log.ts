/**
 * Messages that indicate a fault. Not faults: taint by an unsigned or out-of-tree module, and the removal of a device
 * that a test has unplugged.
 */
const FAULTS = [
  /\bBUG\b/,
  /WARNING: /,
  /\bOops\b/,
  /Call Trace/,
  /kernel panic/i,
  /general protection/,
  /unable to handle/i,
  /DMAR:.*(fault|DRHD: handling)/,
  /blocked for more than \d+ seconds/,
  /soft lockup|hard lockup|rcu.*stall/i,
  /list_(add|del) corruption|refcount_t: /,
  /bad page/i,
  /page allocation failure|Out of memory/,
  /nobody cared/,
  /AER: .*error/i,
  // A crash of any process in the guest.
  /segfault at|traps: /,
  // The kernel's NVMe driver, after it owns the controller again.
  /\bnvme\d*: .*(timeout|controller is down|Removing after probe failure|failed)/i,
]

/** Returns the lines of a kernel log that indicate a fault. */
export function kernelFaults(lines: readonly string[]): string[] {
  return lines.filter((line) => FAULTS.some((pattern) => pattern.test(line)))
}
