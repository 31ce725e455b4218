import type { OutcomeSummary } from '@gpunvme/nvme-spec/transport'
import { equal } from './check.js'
import { BLOCK_BYTES } from './context.js'

/** Returns `commands` transfers of `bytes` bytes each, contiguous on the drive and in memory. */
export function transfersOf(commands: number, bytes: number, firstBlock = 0) {
  const blocks = bytes / BLOCK_BYTES
  return Array.from({ length: commands }, (_, index) => ({
    slba: firstBlock + index * blocks,
    blocks,
    offsetBytes: index * bytes,
  }))
}

/** Checks that each command of a plan succeeded. @throws CheckFailed */
export function allSucceeded(what: string, { commands, succeeded, failures }: OutcomeSummary): void {
  const outcomes = failures.slice(0, 4).map(({ command, outcome }) => [command, outcome.kind])
  equal(`${what}: commands that did not succeed`, outcomes, [])
  equal(`${what}: commands that succeeded`, succeeded, commands)
}
