import { formatEstimate, formatQuantity, formatShare } from '../report/quantities.js'
import { printable } from '../terminal/printable.js'
import { formatTable } from '../terminal/table.js'
import { formatBytes } from '../terminal/units.js'
import type { CopyResult, CopySettings } from './copy-matrix.js'
import type { CudaPeers } from '@gpunvme/cuda-native/cuda'

/** Describes CUDA's peer access for each pair. */
export function describePeers({ devices, access }: CudaPeers): string[] {
  const word = (from: number, to: number) => {
    const reach = access.find((one) => one.from === from && one.to === to)
    if (reach === undefined) return '-'
    return reach.supported ? `yes, rank ${reach.performanceRank}${reach.nativeAtomics ? ', atomics' : ''}` : 'no'
  }
  return [
    'CUDA',
    ...devices.map(({ device, name, bdf, memoryBytes }) => {
      return `  ${device}  ${bdf} ${printable(name)}, ${formatBytes(memoryBytes)}`
    }),
    ...(devices.length < 2
      ? []
      : formatTable(
          [{ title: 'FROM' }, { title: 'TO' }, { title: 'PEER ACCESS' }],
          devices.flatMap(({ device: from }) =>
            devices.flatMap(({ device: to }) => (from === to ? [] : [[String(from), String(to), word(from, to)]])),
          ),
        ).map((line) => `  ${line}`)),
  ]
}

/** Describes rates, limits of the slowest links, and invalid results. */
export function describeCopies(
  results: readonly CopyResult[],
  { lengthBytes, repeats, limitOf }: Pick<CopySettings, 'lengthBytes' | 'repeats' | 'limitOf'>,
): string[] {
  const rows = results.map((result) => {
    const { from, to, directions, isDirect, bytesPerSecond } = result
    const limit = limitOf(from, to)
    const max = limit === undefined ? undefined : limit * (directions === 'both' ? 2 : 1)
    return [
      `${from} ${directions === 'both' ? '<->' : '->'} ${to}`,
      isDirect ? 'by the GPU' : 'through the host',
      bytesPerSecond === undefined ? 'rejected' : formatEstimate('rate', bytesPerSecond),
      max === undefined
        ? 'unknown'
        : `${bytesPerSecond === undefined ? '-' : formatShare(bytesPerSecond.mean / max)} of ${formatQuantity('rate', max)}`,
    ]
  })
  const problems = results.flatMap(({ from, to, problem }) =>
    problem === undefined ? [] : [`  ${from} and ${to}: ${problem}`],
  )
  return [
    `Copies of ${formatBytes(lengthBytes)}, ${repeats} of each, every byte compared where it arrived`,
    ...formatTable([{ title: 'GPUS' }, { title: 'HOW' }, { title: 'RATE, ± 95 %' }, { title: 'LIMIT' }], rows).map(
      (line) => `  ${line}`,
    ),
    ...(problems.length === 0 ? [] : ['', 'Rejected', ...problems]),
  ]
}
