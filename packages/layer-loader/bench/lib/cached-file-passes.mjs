// node cached-file-passes.mjs IMAGE THREADS PASSES: makes PASSES passes over IMAGE, alternately with a loader and with
// fs.readSync. The loader's reads and native checksums use UV_THREADPOOL_SIZE threads, fs.readSync uses THREADS. Prints
// { bytes, load, checksummer, cases: [{ name, loader, reads }] }, with { wallMs, cpuMs } of each pass.
import { closeSync, openSync, readSync } from 'node:fs'
import { loadavg } from 'node:os'
import { Worker } from 'node:worker_threads'
import { nativeChecksummer, nativeFileReader } from '@gpunvme/cuda-native/host'
import { openImage, openLoader, workerChecksummer, zlibChecksummer } from '@gpunvme/layer-loader'
import { openFileStore } from '@gpunvme/layer-loader/store'

const MIB = 1024 * 1024
const SLOTS = 3
const path = process.argv[2]
const [threads, passes] = process.argv.slice(3).map(Number)

/**
 * Returns an allocator of memory that is shared with workers, at multiples of 64 KiB, and the memory it has allocated.
 */
function sharedMemory() {
  const slots = []
  const alloc = (lengthBytes) => {
    const pages = Math.ceil(lengthBytes / 65_536)
    const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
    slots.push(buffer)
    const none = () => undefined
    return {
      ...{ lengthBytes, view: new DataView(buffer, 0, lengthBytes), segments: [] },
      ...{ iovaAt: none, forDevice: none, forHost: none, free: none },
    }
  }
  return { dma: { alloc }, slots }
}

/** Returns the wall time of a call, and the CPU time of all threads during it. */
async function timed(what) {
  const before = process.cpuUsage()
  const startMs = performance.now()
  await what()
  const wallMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(before)
  return { wallMs, cpuMs: (user + system) / 1000 }
}

async function openCase(options, verify, checksummer) {
  const store = await openFileStore(path, options)
  const model = (await openImage(store)).model()
  const { layers } = model.manifest
  const { dma, slots } = sharedMemory()
  const loader = openLoader(model, { slots: SLOTS, verify, dma, ...(checksummer && { checksummer }) })
  return {
    extents: layers,
    slots,
    /** Loads all layers, requesting ahead as many as there are slots. */
    async pass() {
      const ahead = []
      for (const { name } of [...layers, ...Array(SLOTS - 1).fill({})]) {
        if (name !== undefined) ahead.push(loader.request(model.layer(name)))
        if (ahead.length < SLOTS && name !== undefined) continue
        const lease = await ahead.shift()?.lease()
        lease?.release()
      }
    },
    async close() {
      await loader.close()
      await store.close()
    },
  }
}

/**
 * Reads the same bytes with `threads` threads including this one, in blocks of 1 MiB, into the memory that the loader
 * of this case uses.
 */
async function openReads({ extents, slots }) {
  const blocks = extents.flatMap(({ offsetBytes, lengthBytes }, layer) =>
    Array.from({ length: Math.ceil(lengthBytes / MIB) }, (_, block) => ({
      slot: layer % SLOTS,
      at: block * MIB,
      bytes: Math.min(MIB, lengthBytes - block * MIB),
      from: offsetBytes + block * MIB,
    })),
  )
  const turns = new Int32Array(new SharedArrayBuffer(8))
  const script = `
    const { openSync, readSync } = require('node:fs')
    const { parentPort, workerData } = require('node:worker_threads')
    const { path, slots, blocks, turns, index, threads } = workerData
    const fd = openSync(path)
    const into = slots.map((buffer) => new Uint8Array(buffer))
    parentPort.postMessage('ready')
    for (let turn = 0; ; turn++) {
      Atomics.wait(turns, 0, turn)
      for (let i = index; i < blocks.length; i += threads) {
        const { slot, at, bytes, from } = blocks[i]
        readSync(fd, into[slot], at, bytes, from)
      }
      Atomics.add(turns, 1, 1)
      Atomics.notify(turns, 1)
    }
  `
  const workers = []
  for (let index = 1; index < threads; index++) {
    const workerData = { path, slots, blocks, turns, index, threads }
    const worker = new Worker(script, { eval: true, workerData })
    await new Promise((ready) => worker.once('message', ready))
    workers.push(worker)
  }
  const fd = openSync(path)
  const into = slots.map((buffer) => new Uint8Array(buffer))
  return {
    pass() {
      Atomics.add(turns, 0, 1)
      Atomics.notify(turns, 0)
      for (let i = 0; i < blocks.length; i += threads) {
        const { slot, at, bytes, from } = blocks[i]
        readSync(fd, into[slot], at, bytes, from)
      }
      const all = Atomics.load(turns, 0) * workers.length
      for (let ended; (ended = Atomics.load(turns, 1)) < all;) Atomics.wait(turns, 1, ended)
    },
    async close() {
      closeSync(fd)
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

const open = {
  off: await openCase({}, 'off'),
  reader: await openCase({ reader: nativeFileReader() }, 'full'),
  native: await openCase({}, 'full', nativeChecksummer()),
  zlib: await openCase({}, 'full', zlibChecksummer),
  worker: await openCase({}, 'full', workerChecksummer),
  direct: await openCase({ direct: true, reader: nativeFileReader() }, 'full'),
}
// Fills the slots, and brings the file into the page cache.
for (const each of Object.values(open)) await each.pass()
const reads = {}
for (const [name, each] of Object.entries(open)) reads[name] = await openReads(each)
const cases = Object.keys(open).map((name) => ({ name, loader: [], reads: [] }))
for (let pass = 0; pass < passes; pass++) {
  for (const each of cases) {
    // The order alternates too.
    if (pass % 2 === 0) each.reads.push(await timed(() => reads[each.name].pass()))
    each.loader.push(await timed(() => open[each.name].pass()))
    if (pass % 2 === 1) each.reads.push(await timed(() => reads[each.name].pass()))
  }
}
const bytes = open.off.extents.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
console.log(JSON.stringify({ bytes, load: loadavg()[0], checksummer: nativeChecksummer().name, cases }))
for (const each of Object.values(reads)) await each.close()
for (const each of Object.values(open)) await each.close()
