import { afterEach, describe, expect, test } from 'vitest'
import { cudaStatus, openCuda, type Cuda, type PinnedMemory } from './index.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'

const standin = useStandin()
let cuda: Cuda

/** Opens a GPU with the kernels of the stand-in, a stream, and a word of memory. */
function prepare() {
  cuda = openCuda()
  cuda.loadKernels(standin.ptx)
  const memory = cuda.allocPinned(4096)
  return { stream: cuda.stream(), memory, words: new Uint32Array(memory.buffer) }
}

const add = (stream: ReturnType<Cuda['stream']>, { gpuPointer }: PinnedMemory, value: number) =>
  cuda.launch('standin_add', 1, 1, [gpuPointer, value], stream)

/** Makes the next call of a function of the driver fail with CUDA_ERROR_OUT_OF_MEMORY. */
function fails(call: string) {
  standin.fail(`${call}=2@1`)
  // The stand-in reads it in cuInit.
  cudaStatus()
}

describe.skipIf(!hasStandin)(`a CUDA graph${skippedWithoutStandin}`, () => {
  afterEach(async () => {
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('replays recorded launches in order, and does not run them while it records', async () => {
    const { stream, memory, words } = prepare()
    const until = cuda.allocPinned(4)
    const graph = stream.capture(() => {
      add(stream, memory, 3)
      cuda.launch('standin_wait', 1, 1, [until.gpuPointer], stream)
      add(stream, memory, 4)
    })
    await stream.finished()
    expect(words[0]).toBe(0)
    graph.launch(stream)
    await expect(stream.finished(1e7)).rejects.toThrow(/did not end/)
    expect(words[0]).toBe(3)
    new Uint32Array(until.buffer)[0] = 1
    for (let replay = 1; replay < 5; replay++) graph.launch(stream)
    await stream.finished()
    expect(words[0]).toBe(5 * 7)
  })

  test('runs in another stream than the recorded one, and after the recorded one is closed', async () => {
    const { stream, memory, words } = prepare()
    const graph = stream.capture(() => add(stream, memory, 5))
    stream.close()
    const other = cuda.stream()
    graph.launch(other)
    await other.finished()
    expect(words[0]).toBe(5)
    graph.close()
    expect(() => graph.launch(other)).toThrow(TypeError)
    expect(() => graph.close()).toThrow(TypeError)
  })

  test('is discarded if the recording function throws or is asynchronous, and the stream still runs', async () => {
    const { stream, memory, words } = prepare()
    const failed = new Error('not recorded')
    const record = () => {
      add(stream, memory, 1)
      throw failed
    }
    expect(() => stream.capture(record)).toThrow(failed)
    expect(() => stream.capture(() => Promise.resolve())).toThrow(
      new TypeError('record: expected a synchronous function, got one that returned a promise'),
    )
    add(stream, memory, 2)
    await stream.finished()
    expect(words[0]).toBe(2)
  })

  test('is discarded if the recording function allocates memory', () => {
    const { stream, memory } = prepare()
    expect(() => stream.capture(() => cuda.allocDevice(64))).toThrow(/CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED/)
    const hidden = () => {
      add(stream, memory, 1)
      expect(() => cuda.allocDevice(64)).toThrow()
    }
    expect(() => stream.capture(hidden)).toThrow(/CUDA_ERROR_STREAM_CAPTURE_INVALIDATED/)
    expect(() => stream.capture(() => stream.capture(() => undefined))).toThrow(/CUDA_ERROR_ILLEGAL_STATE/)
  })

  test.each(['cuStreamBeginCapture_v2', 'cuStreamEndCapture', 'cuGraphInstantiateWithFlags', 'cuGraphDestroy'])(
    'leaves nothing behind if %s fails, and the stream can record again',
    async (call) => {
      const { stream, memory, words } = prepare()
      fails(call)
      expect(() => stream.capture(() => add(stream, memory, 1))).toThrow(`${call} returned 2`)
      expect(standin.live().graphs).toBe(0)
      stream.capture(() => add(stream, memory, 6)).launch(stream)
      await stream.finished()
      expect(words[0]).toBe(6)
    },
  )

  test('throws the error of the recording function if the recording cannot be discarded either', async () => {
    const { stream, memory, words } = prepare()
    const failed = new Error('not recorded')
    const record = () => {
      add(stream, memory, 1)
      throw failed
    }
    fails('cuGraphDestroy')
    expect(() => stream.capture(record)).toThrow(failed)
    stream.capture(() => add(stream, memory, 6)).launch(stream)
    await stream.finished()
    expect(words[0]).toBe(6)
  })

  test('reports a launch that the driver rejects', async () => {
    const { stream, memory, words } = prepare()
    const graph = stream.capture(() => add(stream, memory, 1))
    fails('cuGraphLaunch')
    expect(() => graph.launch(stream)).toThrow(/^Launching a graph failed: CUDA_ERROR_OUT_OF_MEMORY/)
    graph.launch(stream)
    await stream.finished()
    expect(words[0]).toBe(1)
  })

  test('rejects a stream of another GPU', async () => {
    const { stream, memory } = prepare()
    const graph = stream.capture(() => add(stream, memory, 1))
    const other = openCuda()
    expect(() => graph.launch(other.stream())).toThrow(
      new TypeError('stream: expected a stream of the same GPU, got one of another GPU'),
    )
    await other.close()
  })
})
