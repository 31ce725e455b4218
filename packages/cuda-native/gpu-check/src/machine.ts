import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { arch, cpus, release, totalmem, version } from 'node:os'

/** Where a report comes from. No name of the machine or of anybody on it. */
export interface Machine {
  readonly kernel: string
  readonly kernelVersion: string
  readonly arch: string
  readonly cpu: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly node: string
  /** The C library that Node runs on; absent where it does not say. */
  readonly glibc?: string
  /** The first line of /proc/driver/nvidia/version: the kernel module's flavour and version. */
  readonly nvidiaModule?: string
}

export function describeMachine(): Machine {
  const processors = cpus()
  const glibc = (process.report.getReport() as { header?: { glibcVersionRuntime?: string } }).header
    ?.glibcVersionRuntime
  const module = firstLine('/proc/driver/nvidia/version')
  return {
    ...{ kernel: release(), kernelVersion: version(), arch: arch() },
    ...{ cpu: processors[0]?.model.trim() ?? 'unknown', cpus: processors.length, memoryBytes: totalmem() },
    node: process.version,
    ...(glibc !== undefined && { glibc }),
    ...(module !== undefined && { nvidiaModule: module }),
  }
}

const PACKAGES = ['nvme-spec', 'nvme-sim', 'host-driver', 'cuda-native']

/** Versions of our packages, as they are installed beside this. */
export function packageVersions(): Record<string, string> {
  return Object.fromEntries(
    PACKAGES.map((name) => {
      const manifest = new URL(import.meta.resolve(`@gpunvme/${name}/package.json`))
      const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
      return [`@gpunvme/${name}`, version]
    }),
  )
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function firstLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n')[0]
  } catch {
    return undefined
  }
}
