import { unknown, type Known } from '../machine/known.js'
import type { Root } from '../machine/root.js'
import type { Libcuda } from './driver-state.js'
import { isDriverVersion } from './version.js'

/** Directories used by distributions, NVIDIA's installer, WSL and containers. */
const FOLDERS = [
  'usr/lib/x86_64-linux-gnu',
  'usr/lib/x86_64-linux-gnu/nvidia/current',
  'usr/lib/aarch64-linux-gnu',
  'usr/lib64',
  'usr/lib64/nvidia',
  'usr/lib',
  'usr/lib/wsl/lib',
  'usr/local/nvidia/lib64',
  'usr/local/cuda/compat',
  'run/opengl-driver/lib',
]

/** Finds the CUDA library: the file with a version in its name. */
export async function readLibcuda(root: Root): Promise<Known<Libcuda | undefined>> {
  let unnamed: string | undefined
  for (const folder of FOLDERS) {
    for (const name of await root.list(folder)) {
      const [, version] = /^libcuda\.so\.(.+)$/.exec(name) ?? []
      if (version !== undefined && isDriverVersion(version)) return { path: `/${folder}/${name}`, version }
      if (name === 'libcuda.so.1') unnamed ??= `/${folder}/${name}`
    }
  }
  if (unnamed !== undefined) return { path: unnamed, version: unknown('no file has its version in its name') }
  return (await root.exists('usr/lib')) || (await root.exists('usr/lib64')) ? undefined : root.why('usr/lib')
}
