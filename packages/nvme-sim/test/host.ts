import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { simulate, type Simulation, type SimulationOptions } from '../src/index.js'
import type { Completion } from '../conformance/raw-host/entry.js'
import { HostBase } from '../conformance/raw-host/host-base.js'
import { prpsOf } from '../conformance/raw-host/prps.js'
import type { HostMemory } from '../conformance/raw-host/raw-host.js'

/** A completion, with the time at which the host consumed it. */
export interface Completed extends Completion {
  readonly atNs: number
}

/** The raw host of a simulated controller. Commands have a time limit of one minute of virtual time. */
export class TestHost extends HostBase<HostMemory, Completed> {
  readonly simulation: Simulation

  constructor(options?: SimulationOptions) {
    const simulation = simulate(options)
    super(simulation.transport, 60e9)
    this.simulation = simulation
  }

  /** Allocates memory; contiguous memory is aligned to 8 KiB, for tests with memory pages of that size. */
  alloc(lengthBytes: number, contiguous = false): HostMemory {
    const alignBytes = contiguous ? 8192 : 4096
    return this.simulation.transport.dma.alloc(lengthBytes, { contiguous, alignBytes }) as HostMemory
  }

  protected allocRing(lengthBytes: number): HostMemory {
    return this.alloc(lengthBytes, true)
  }

  protected report(completion: Completion): Completed {
    return { ...completion, atNs: this.clock.now() }
  }
}

/** Creates a host with an enabled controller. */
export async function enabled(options?: SimulationOptions): Promise<TestHost> {
  const host = new TestHost(options)
  await host.enable()
  return host
}

/** Creates a host with an enabled controller that has queue pair 1. */
export async function ready(options?: SimulationOptions, entries = 64): Promise<TestHost> {
  const host = await enabled(options)
  await host.createPair(1, entries)
  return host
}

/** Returns PRP1 and PRP2 for a transfer, with memory pages of 4 KiB. */
export function prps(
  host: TestHost,
  memory: DmaMemory,
  offsetBytes = 0,
  lengthBytes = memory.lengthBytes - offsetBytes,
): [number, number] {
  return prpsOf(memory, offsetBytes, lengthBytes, 4096, (bytes) => host.alloc(bytes, true))
}

/** Fills memory with a pattern in which adjacent words, and all pages, differ. */
export function fillPattern(memory: DmaMemory, salt = 1): void {
  const { view, lengthBytes } = memory
  for (let at = 0; at + 4 <= lengthBytes; at += 4) view!.setUint32(at, Math.imul(at + salt, 0x9e37_79b1), true)
}

export function bytesOf(
  memory: DmaMemory,
  offsetBytes = 0,
  lengthBytes = memory.lengthBytes - offsetBytes,
): Uint8Array {
  return new Uint8Array(memory.view!.buffer, memory.view!.byteOffset + offsetBytes, lengthBytes)
}
