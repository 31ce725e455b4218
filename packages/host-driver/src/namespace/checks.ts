import { Compare, STATUS, Verify, zeroBased } from '@gpunvme/nvme-spec'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue } from '../commands/command-queue.js'
import type { CommandData } from '../commands/single-command.js'
import { CommandError, unsupportedCommand } from '../commands/errors.js'
import { checkHolds } from '../memory/check-memory.js'
import { blocksIn, type ChangeTarget, type CommandLimits } from './changes.js'
import { splitRange, type BlockRange } from './ranges.js'

/** Sends Verify for a range, in as many commands as needed (NVM 1.2 §3.3.5). */
export async function verify(
  { controller, nsid, blockBytes, presence }: ChangeTarget,
  range: BlockRange,
  options: CommandLimits,
): Promise<void> {
  const { verifyBytes } = await controller.blockCommandLimits()
  if (verifyBytes === undefined) throw unsupportedCommand('Verify', 'ONCS.NVMVFYS and VSL are 0')
  for (const { slba, blocks } of splitRange(range, blocksIn(verifyBytes, blockBytes))) {
    if (options.signal?.aborted === true) throw options.signal.reason
    const values = { NSID: nsid, SLBA: slba, NLB: zeroBased(blocks) }
    await controller.repeatIo(nsid, (queue) => queue.execute(Verify, values, options), presence)
  }
}

/** Sends Compare for a range, in as many commands as needed; returns false at the first difference (NVM 1.2 §3.3.1). */
export async function compare(
  { controller, nsid, blockBytes, presence }: ChangeTarget,
  range: BlockRange,
  memory: DmaMemory,
  { offsetBytes, maxTransferBytes, ...options }: CommandLimits & { offsetBytes: number; maxTransferBytes: number },
): Promise<boolean> {
  checkHolds('compare', memory, offsetBytes, range.blocks * blockBytes)
  const { compare: isSupported } = await controller.blockCommandLimits()
  if (!isSupported) throw unsupportedCommand('Compare', 'ONCS.NVMCMPS is 0')
  memory.forDevice(offsetBytes, range.blocks * blockBytes)
  for (const { slba, blocks } of splitRange(range, blocksIn(maxTransferBytes, blockBytes))) {
    if (options.signal?.aborted === true) throw options.signal.reason
    const at = offsetBytes + (slba - range.slba) * blockBytes
    const data = { memory, offsetBytes: at, lengthBytes: blocks * blockBytes }
    const values = { NSID: nsid, SLBA: slba, NLB: zeroBased(blocks) }
    const send = (queue: CommandQueue) => compareOnce(queue, values, data, options.timeoutNs)
    const isEqual = await controller.repeatIo(nsid, send, presence)
    if (!isEqual) return false
  }
  return true
}

type CompareValues = Parameters<typeof Compare.encode>[2]

async function compareOnce(
  queue: CommandQueue,
  values: CompareValues,
  data: CommandData,
  timeoutNs: number | undefined,
): Promise<boolean> {
  try {
    await queue.execute(Compare, values, { data, timeoutNs })
    return true
  } catch (error) {
    const { sct, sc } = STATUS.COMPARE_FAILURE
    if (error instanceof CommandError && error.sct === sct && error.sc === sc) return false
    throw error
  }
}
