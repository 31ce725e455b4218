import type { Controller } from '@gpunvme/host-driver'
import { payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import {
  BENCH_SCHEMA,
  type BenchDrive,
  type BenchLink,
  type BenchMethod,
  type BenchResults,
} from '../report/bench-results.js'
import { OUTLIER_RULE } from './outliers.js'
import type { Setting } from './setting.js'
import { sameShape } from './shape.js'
import { summaryOf } from './summary.js'

export function driveOf(
  controller: Controller,
  nsid: number,
  known: { profile?: string; address?: string },
): BenchDrive {
  const { model, firmware, serial, maxTransferBytes } = controller.identity
  const { capacityBytes, blockBytes } = controller.namespace(nsid)
  return {
    model,
    firmware,
    ...known,
    serialEnd: serial.slice(-4),
    capacityBytes,
    blockBytes,
    ...(maxTransferBytes !== undefined && { maxTransferBytes }),
  }
}

export function linkOf(link: Link | undefined): BenchLink | undefined {
  if (link === undefined) return undefined
  const { gen, width, mps } = link
  return { gen, width, mps, payloadLimitBytesPerSecond: payloadLimit(link) }
}

export function methodOf(setting: Setting, blockBytes: number): BenchMethod {
  const { seconds, repeats, warmUpSeconds, coolDownSeconds, span, seed } = setting
  return {
    secondsPerRepeat: seconds,
    repeats,
    warmUpSeconds,
    coolDownSeconds,
    span: { firstByte: span.firstBlock * blockBytes, lengthBytes: span.blocks * blockBytes },
    seed,
    outlierRule: OUTLIER_RULE,
  }
}

/** Returns the results with a summary of each cell, as written to files. */
export function withSummaries(results: BenchResults) {
  const { cells, sources, link } = results
  return {
    ...results,
    schema: BENCH_SCHEMA,
    cells: cells.map((cell) => {
      const peers = cells.filter((peer) => sameShape(peer, cell))
      const summary = summaryOf(cell, peers, sources, link)
      return { ...cell, ...(summary !== undefined && { summary }) }
    }),
  }
}

/** Returns the cells whose checks failed. */
export function failedCells({ cells }: Pick<BenchResults, 'cells'>): BenchResults['cells'] {
  return cells.filter(({ problem }) => problem?.kind === 'failed')
}
