import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratch } from '../../../../test/scratch.js'

export const GPU = '0000:01:00.0'

/** Properties of a machine that determine whether raw BAR addresses can be used. */
export interface FakeMachine {
  /** File `resource` of the GPU. Default: that of an RTX 3090 with a BAR1 of 32 GiB. */
  readonly resource?: string
}

/** Formats a BAR as sysfs does: first address, last address, flags. */
export function resourceLine(first: number, lengthBytes: number, flags = 0x14220c): string {
  const word = (value: number) => `0x${value.toString(16).padStart(16, '0')}`
  return lengthBytes === 0
    ? `${word(0)} ${word(0)} ${word(0)}`
    : `${word(first)} ${word(first + lengthBytes - 1)} ${word(flags)}`
}

/** Creates a root folder with the GPU's sysfs entries. The end of the test removes it. */
export function fakeSysfs({ resource }: FakeMachine = {}): string {
  const root = scratch()
  const devices = join(root, 'sys/bus/pci/devices')
  mkdirSync(join(devices, GPU), { recursive: true })
  const bars = [
    '0x00000000fb000000 0x00000000fbffffff 0x0000000000040200',
    '0x0000007000000000 0x00000077ffffffff 0x000000000014220c',
    '0x0000000000000000 0x0000000000000000 0x0000000000000000',
  ]
  writeFileSync(join(devices, GPU, 'resource'), resource ?? `${bars.join('\n')}\n`)
  return root
}
