import { beforeEach, describe, expect, it } from 'vitest'
import { native } from '../../test/native.js'
import { hasStandin, skippedWithoutStandin, useStandin, NOTHING } from '../../test/standin/standin.js'
import { CudaUnavailableError, openCuda, type Cuda } from './cuda.js'
import { CudaPattern } from './pattern.js'
import { CudaPeerCopier } from './peer-copier.js'
import { cudaPeers } from './peers.js'
import { CudaRegisterWriter } from './register-writer.js'

const standin = useStandin()
const BYTES = 100_003

describe.skipIf(!hasStandin)(`several GPUs, on the stand-in${skippedWithoutStandin}`, { timeout: 120_000 }, () => {
  beforeEach(() => {
    process.env['GPUNVME_STANDIN_DEVICES'] = '2'
  })

  it('reports peer access for each pair of GPUs, in both directions', () => {
    process.env['GPUNVME_STANDIN_PEERS'] = '1-0=0'
    const { devices, access } = cudaPeers()
    expect(devices.map(({ device, name, bdf }) => [device, name, bdf])).toEqual([
      [0, 'Stand-in 0', '0000:0a:00.0'],
      [1, 'Stand-in 1', '0000:0b:00.0'],
    ])
    expect(access).toEqual([
      { from: 0, to: 1, supported: true, performanceRank: 0, nativeAtomics: false },
      { from: 1, to: 0, supported: false, performanceRank: 0, nativeAtomics: false },
    ])
    process.env['GPUNVME_STANDIN_DEVICES'] = '0'
    expect(() => cudaPeers()).toThrow(CudaUnavailableError)
  })

  /** Runs a test with two open GPUs. */
  async function withPair(use: (from: Cuda, to: Cuda) => Promise<void>): Promise<void> {
    const [from, to] = [openCuda({ device: 0 }), openCuda({ device: 1 })]
    try {
      await use(from, to)
    } finally {
      await from.close()
      await to.close()
    }
    expect(standin.live()).toEqual(NOTHING)
  }

  async function copyOnce(from: Cuda, to: Cuda) {
    const [source, target] = [from.allocDevice(BYTES), to.allocDevice(BYTES)]
    const [writer, reader] = [new CudaPattern(from), new CudaPattern(to)]
    const copier = new CudaPeerCopier(from, to)
    try {
      await writer.fill(source, 7n)
      await reader.fill(target, 8n)
      await copier.copy(source, 0, target, 0, BYTES)
      return { ...(await reader.verify(target, 7n)), isDirect: copier.isDirect, refusal: copier.refusal?.resultName }
    } finally {
      copier.close()
      for (const each of [writer, reader]) each.close()
      source.free()
      target.free()
    }
  }

  it('copies every byte from GPU to GPU', () =>
    withPair(async (from, to) => {
      const nothingWrong = { wrongBytes: 0, firstWrongByte: undefined }
      expect(await copyOnce(from, to)).toEqual({ ...nothingWrong, isDirect: true, refusal: undefined })
      // Peer access was disabled, and can be enabled again.
      expect(await copyOnce(from, to)).toMatchObject({ isDirect: true })
    }))

  it('copies through host memory if GPUs have no peer access, and reports it', () =>
    withPair(async (from, to) => {
      // The destination GPU reads, so the access from GPU 1 to GPU 0 matters.
      process.env['GPUNVME_STANDIN_PEERS'] = '1-0=0'
      cudaPeers()
      const refusal = 'CUDA_ERROR_PEER_ACCESS_UNSUPPORTED'
      expect(await copyOnce(from, to)).toMatchObject({ wrongBytes: 0, isDirect: false, refusal })
    }))

  it('verification detects a copy that succeeds but moves nothing', () =>
    withPair(async (from, to) => {
      process.env['GPUNVME_STANDIN_PEERS'] = '0-1=2'
      cudaPeers()
      const { wrongBytes, firstWrongByte, isDirect } = await copyOnce(from, to)
      expect(isDirect).toBe(true)
      // Bytes of two patterns may be equal by chance.
      expect(wrongBytes).toBeGreaterThan(BYTES * 0.99)
      expect(firstWrongByte).toBeLessThan(8)
    }))

  it('verification reports the count and offset of one wrong byte', () =>
    withPair(async (from) => {
      const memory = from.allocDevice(BYTES)
      const pattern = new CudaPattern(from)
      await pattern.fill(memory, 1n)
      const [byte] = await memory.read(4321, 1)
      await memory.fill(byte! ^ 1, 4321, 1)
      expect(await pattern.verify(memory, 1n)).toEqual({ wrongBytes: 1, firstWrongByte: 4321 })
      pattern.close()
      memory.free()
    }))

  it('rejects memory of another GPU, and ranges outside memory', () =>
    withPair(async (from, to) => {
      const [source, target] = [from.allocDevice(4096), to.allocDevice(4096)]
      const copier = new CudaPeerCopier(from, to)
      await expect(copier.copy(target, 0, source, 0, 16)).rejects.toThrow('from: expected memory of the source GPU')
      await expect(copier.copy(source, 0, source, 0, 16)).rejects.toThrow('to: expected memory of the destination GPU')
      await expect(copier.copy(source, 4090, target, 0, 16)).rejects.toThrow(RangeError)
      await expect(copier.copy(source, 0, target, 4090, 16)).rejects.toThrow(RangeError)
      copier.close()
      source.free()
      target.free()
    }))

  it('keeps both memories of a copy that does not end', async () => {
    const [from, to] = [openCuda({ device: 0 }), openCuda({ device: 1 })]
    const [source, target] = [from.allocDevice(4096), to.allocDevice(4096)]
    const copier = new CudaPeerCopier(from, to, { timeoutNs: 20e6 })
    standin.holdCopies(true)
    await expect(copier.copy(source, 0, target, 0, 4096)).rejects.toThrow('Copying 4096 bytes from GPU to GPU')
    for (const memory of [source, target]) expect(() => memory.free()).toThrow('1 copies in progress')
    standin.holdCopies(false)
    await to.close()
    await from.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  it('a register is written by the GPU only', () =>
    withPair(async (cuda) => {
      const registers = cuda.allocPinned(4096)
      const words = new Uint32Array(registers.buffer)
      // The driver registers only pages of registers that are present.
      words.fill(0)
      standin.pretend({ address: registers.address, lengthBytes: 4096 })
      const writer = new CudaRegisterWriter(cuda, { address: registers.address, lengthBytes: 4096 })
      await writer.store32(0x24, 0x001f_001f)
      expect([...words.slice(8, 11)]).toEqual([0, 0x001f_001f, 0])
      await expect(writer.store32(0x26, 1)).rejects.toThrow('offset: expected a multiple of 4 below 4096, got 38')
      await expect(writer.store32(4096, 1)).rejects.toThrow(RangeError)
      await expect(writer.store32(0, -1)).rejects.toThrow('value: expected an unsigned 32-bit integer, got -1')
      writer.close()
      registers.free()
    }))

  it('registers the registers of a simulated controller as memory', () =>
    withPair(async (cuda) => {
      const region = native.allocate(4096, 4096)
      const { address, lengthBytes } = region
      const writer = new CudaRegisterWriter(cuda, { address, lengthBytes, isMemory: true })
      // Nothing was registered as I/O memory, which a real driver rejects for plain memory.
      expect(standin.registers().lengthBytes).toBe(0)
      expect(standin.live().registered).toBe(0)
      await writer.store32(0x24, 7)
      expect(standin.live().registered).toBe(1)
      expect(region.load32(0x24)).toBe(7)
      writer.close()
      region.unmap()
    }))
})
