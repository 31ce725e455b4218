/**
 * What a sound kernel does not say. That a module is unsigned or not Debian's taints the kernel and is no fault; nor is
 * it when the kernel says that it left a device which a test has pulled out.
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
  // Of a process of ours; a crash of the guest's userland is a crash of ours.
  /segfault at|traps: /,
  // The kernel's own driver, after it got the controller back from us.
  /\bnvme\d*: .*(timeout|controller is down|Removing after probe failure|failed)/i,
]

/** The lines of a kernel log that tell of a fault. */
export function kernelFaults(lines: readonly string[]): string[] {
  return lines.filter((line) => FAULTS.some((pattern) => pattern.test(line)))
}
