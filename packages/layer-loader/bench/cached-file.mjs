// Cost of loading from a file in the page cache, compared with fs.readSync of the same bytes into the same memory.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packToFile } from './lib/demo-drive.mjs'

const GIB = 1024 ** 3
const PASSES = 9
const WHAT = 'of the same bytes in 1 MiB blocks into the same buffers'

export async function bench() {
  if (!existsSync(join(import.meta.dirname, '../../cuda-native/native/build/Release/gpunvme_host.node'))) {
    throw new Error('the addon gpunvme_host is not built: node packages/cuda-native/scripts/build-native.mjs')
  }
  const path = await packToFile(GIB)
  const one = passes(path, { pool: 1, threads: 1 })
  const two = passes(path, { pool: 2, threads: 2 })
  const overlapped = passes(path, { pool: 2, threads: 1 })

  const off = figureOf(one, 'off')
  const full = figureOf(one, 'reader')
  const zlib = figureOf(one, 'zlib')
  const both = figureOf(overlapped, 'reader')
  const direct = figureOf(one, 'direct')
  return [
    {
      name: `Loading from a cached file of 1 GiB without verification, compared with \`fs.readSync\` ${WHAT}, one I/O thread each`,
      value: off.ratio,
      unit: '×',
      goal: '≥ 0.95',
      met: off.ratio >= 0.95,
      note: `${wordsOf(one, off)}; two threads each: ${shown(figureOf(two, 'off'))}`,
    },
    {
      name: `The same with every chunk verified by \`nativeFileReader\`, CRC-32 by ${one.checksummer}`,
      value: full.ratio,
      unit: '×',
      goal: '≥ 0.85',
      met: full.ratio >= 0.85,
      note: `${wordsOf(one, full)}; two threads each: ${shown(figureOf(two, 'reader'))}; by \`nativeChecksummer\` after reading: ${shown(figureOf(one, 'native'))}`,
    },
    {
      name: 'The same verified without the addon, by zlib on another thread than the reads',
      value: zlib.ratio,
      unit: '×',
      goal: '≥ 0.5',
      met: zlib.ratio >= 0.5,
      note: `${wordsOf(one, zlib)}; by \`workerChecksummer\`: ${shown(figureOf(one, 'worker'))}`,
    },
    {
      name: 'The same by `nativeFileReader` on two threads, compared with `fs.readSync` on one',
      value: both.ratio,
      unit: '×',
      note: wordsOf(overlapped, both),
    },
    {
      name: 'The same without the page cache (O_DIRECT), by `nativeFileReader` on one thread',
      value: direct.gbs,
      unit: 'GB/s',
      note: `${wordsOf(one, direct)}; limited by the disk`,
    },
  ]
}

/** Runs in its own process, since Node's number of file threads is fixed at its start. */
function passes(path, { pool, threads }) {
  const script = join(import.meta.dirname, 'lib/cached-file-passes.mjs')
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(pool) }
  const options = { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
  return JSON.parse(execFileSync(process.execPath, [script, path, String(threads), String(PASSES)], options))
}

/** Returns median and quartiles of the ratios of the passes, and the median rates. */
function figureOf({ bytes, cases }, name) {
  const { loader, reads } = cases.find((each) => each.name === name)
  const ratios = loader.map(({ wallMs }, pass) => reads[pass].wallMs / wallMs).sort((a, b) => a - b)
  const at = (share) => ratios[Math.floor((ratios.length - 1) * share)]
  const gbs = (each) => bytes / median(each.map(({ wallMs }) => wallMs)) / 1e6
  return { ratio: at(0.5), low: at(0.25), high: at(0.75), gbs: gbs(loader), readGbs: gbs(reads) }
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

function wordsOf({ load }, { low, high, gbs, readGbs }) {
  const quartiles = `quartiles ${low.toFixed(2)} and ${high.toFixed(2)} of ${PASSES} passes`
  return `${gbs.toFixed(1)} and ${readGbs.toFixed(1)} GB/s; ${quartiles}, load ${load.toFixed(1)}`
}

function shown({ ratio, gbs }) {
  return `${ratio.toFixed(2)} (${gbs.toFixed(1)} GB/s)`
}
