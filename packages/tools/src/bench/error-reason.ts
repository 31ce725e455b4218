import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { inCliWords } from '../command-line/cli-words.js'
import type { BenchReason } from '../report/bench-results.js'

/** An error as why somebody could not take part: its first line, and what to try, by the options of bench. */
export function reasonOf(error: GpuNvmeError): BenchReason {
  const [reason = '', ...rest] = inCliWords(error).replaceAll('--engine ', '--engines ').split('\n')
  const next = rest.map((line) => /^ *Try: (.*)$/.exec(line)?.[1]).find((found) => found !== undefined)
  return { reason, ...(next !== undefined && { next }) }
}
