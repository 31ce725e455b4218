import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { arch, cpus, release, totalmem, version } from 'node:os'

/** The machine that a report is from. Contains no host or user names. */
export interface Machine {
  readonly kernel: string
  readonly kernelVersion: string
  readonly arch: string
  readonly cpu: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly node: string
  /** Version of glibc that Node uses; absent if unknown. */
  readonly glibc?: string
  /** First line of /proc/driver/nvidia/version: flavour and version of the kernel module. */
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

/** Returns the versions of the gpunvme packages that these checks use. */
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
