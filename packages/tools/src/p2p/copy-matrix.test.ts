import { expect, test } from 'vitest'
import { copyMatrix, type CopySettings } from './copy-matrix.js'
import type { PeerLane, PeerRig } from './peer-rig.js'

const LENGTH = 1_000_000
const gpu = (device: number) => ({ device, name: 'GPU', bdf: `0000:0${device}:00.0`, memoryBytes: 1e9 })

/** GPUs whose memory is modelled by the seed of its pattern. */
class FakeGpus implements PeerRig {
  nowNs = 0
  readonly open: string[] = []
  /** Returns the content of the destination after a copy. */
  moved: (source: number, destination: number) => number = (source) => source
  nsPerCopy = 100_000
  wrongBytes = LENGTH

  lane = (from: number, to: number): PeerLane => {
    const name = `${from}-${to}`
    this.open.push(name)
    let [source, destination] = [0, 0]
    return {
      isDirect: from !== 2 && to !== 2,
      prepare: (seed) => {
        ;[source, destination] = [seed, -seed]
        return Promise.resolve()
      },
      copy: () => {
        destination = this.moved(source, destination)
        // Two concurrent copies take as long as one: the link is full duplex.
        this.nowNs = Math.max(this.nowNs, this.startedNs + this.nsPerCopy)
        return Promise.resolve()
      },
      check: (seed) =>
        Promise.resolve(
          destination === seed
            ? { wrongBytes: 0, firstWrongByte: undefined }
            : { wrongBytes: this.wrongBytes, firstWrongByte: 17 },
        ),
      close: () => void this.open.splice(this.open.indexOf(name), 1),
    }
  }

  startedNs = 0
  settings(more: Partial<CopySettings> = {}): CopySettings {
    return {
      lengthBytes: LENGTH,
      repeats: 3,
      signal: new AbortController().signal,
      nowNs: () => (this.startedNs = this.nowNs),
      limitOf: () => 12e9,
      onResult: () => undefined,
      ...more,
    }
  }
}

const run = (rig: FakeGpus, count: number, more?: Partial<CopySettings>) =>
  copyMatrix({ devices: Array.from({ length: count }, (_, device) => gpu(device)) }, rig, rig.settings(more))

test('every pair of GPUs is measured in each direction and in both directions', async () => {
  const rig = new FakeGpus()
  const results = await run(rig, 3)
  expect(results.map(({ from, to, directions }) => `${from}${directions === 'both' ? '<->' : '->'}${to}`)).toEqual([
    ...['0->1', '0<->1', '0->2', '0<->2', '1->0', '1->2', '1<->2', '2->0', '2->1'],
  ])
  expect(rig.open).toEqual([])
  // 1 MB in 100 µs is 10 GB/s; there and back at once it is twice that.
  expect(results[0]).toMatchObject({ isDirect: true, repeats: 3, bytesPerSecond: { mean: 1e10, count: 3 } })
  expect(results[1]!.bytesPerSecond!.mean).toBe(2e10)
  expect(results[2]!.isDirect).toBe(false)
})

test('a copy that reports success without moving data has no rate', async () => {
  const rig = new FakeGpus()
  rig.moved = (_source, destination) => destination
  const results = await run(rig, 2)
  for (const { bytesPerSecond, problem } of results) {
    expect(bytesPerSecond).toBeUndefined()
    expect(problem).toBe('the copy reported success, but 1000000 of 1000000 bytes are wrong, the first at 17')
  }
})

test('a single wrong byte in the last repeat invalidates the rate', async () => {
  const rig = new FakeGpus()
  rig.wrongBytes = 1
  rig.moved = (source) => (source === 4 ? 0 : source)
  const [first] = await run(rig, 2)
  expect(first).toMatchObject({ bytesPerSecond: undefined, repeats: 3 })
  expect(first!.problem).toContain('1 of 1000000 bytes')
})

test('data of an earlier copy is detected, since each copy has its own pattern', async () => {
  const rig = new FakeGpus()
  let last = 0
  rig.moved = (source) => {
    const stale = last
    last = source
    return stale
  }
  expect((await run(rig, 2))[0]!.problem).toContain('reported success')
})

test('a rate above the limit of the slowest link is reported as a problem', async () => {
  const rig = new FakeGpus()
  rig.nsPerCopy = 50_000 // 20 GB/s of at most 12
  for (const { bytesPerSecond, problem } of await run(rig, 2)) {
    expect(bytesPerSecond).toBeUndefined()
    expect(problem).toMatch(/^faster than the limit of the slowest link between them/)
  }
})

test('a rate with an unknown limit is accepted', async () => {
  const rig = new FakeGpus()
  rig.nsPerCopy = 10_000
  expect((await run(rig, 2, { limitOf: () => undefined }))[0]!.bytesPerSecond!.mean).toBe(1e11)
})

test('an abort ends copyMatrix between two copies', async () => {
  const abort = new AbortController()
  const rig = new FakeGpus()
  const onResult = () => abort.abort(new Error('enough'))
  await expect(run(rig, 2, { signal: abort.signal, onResult })).rejects.toThrow('enough')
})
