import { isKnown } from '../../machine/known.js'
import type { CudaDevice } from '@gpunvme/cuda-native'
import { familyOf } from '../advice.js'
import type { Facts } from '../facts.js'
import { command, finding, hands, instead, read, type Draft, type Finding, type Step } from '../finding.js'

/** Driver with CUDA 12.2. */
const MIN_DRIVER = 535

/** Checks whether CUDA works here; for the tree of another machine, whether its library is installed. */
export function checkCuda(facts: Facts): Finding[] {
  const isNvidia = facts.machine.gpus.some(({ vendor }) => vendor === 'NVIDIA')
  // CUDA has no use without a GPU.
  if (!isNvidia) return []
  const drafts = facts.process === undefined ? libraryOnly(facts) : asked(facts, facts.process.cuda)
  return drafts.map((draft) => finding('cuda', draft))
}

function libraryOnly({ machine, nvidia: { libcuda } }: Facts): Draft[] {
  if (!isKnown(libcuda))
    return [
      {
        id: 'cuda-unknown',
        severity: 'unknown',
        title: 'Unknown whether the CUDA library is installed',
        evidence: [read('libcuda.so.1', libcuda.unknown)],
        closes: ['tier1'],
      },
    ]
  if (libcuda === undefined)
    return [
      {
        id: 'cuda-missing',
        severity: 'problem',
        title: 'The CUDA library (libcuda.so.1) is not installed',
        cause: "It is part of NVIDIA's driver, often as a separate package.",
        evidence: [read('/usr/lib', 'no libcuda.so.1')],
        steps: [installLibrary(machine)],
        closes: ['tier1'],
      },
    ]
  const { path, version } = libcuda
  const evidence = [read(path, isKnown(version) ? version : version.unknown)]
  if (isKnown(version) && Number.parseInt(version, 10) < MIN_DRIVER)
    return [{ ...tooOld(`The CUDA library is of driver ${version}`), evidence }]
  return [
    {
      id: 'cuda-installed',
      severity: 'ok',
      title: `The CUDA library is installed${isKnown(version) ? ` (driver ${version})` : ''}; it was not queried`,
      evidence,
      opens: ['tier1'],
    },
    {
      id: 'cuda-dma-buf-unknown',
      severity: 'unknown',
      title: 'Unknown whether CUDA exports GPU memory as dma-buf: only a program on that machine can query it',
      evidence: [read('CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED', 'not queried')],
      closes: ['tier2-dma-buf'],
    },
  ]
}

function tooOld(what: string): Draft {
  return {
    id: 'cuda-too-old',
    severity: 'problem',
    title: `${what}: ${MIN_DRIVER} (CUDA 12.2) or later is required`,
    steps: [hands(`install driver ${MIN_DRIVER} or newer`)],
    closes: ['tier1'],
  }
}

function installLibrary(machine: Facts['machine']): Step {
  switch (familyOf(machine)) {
    case 'debian':
      return command('sudo apt install libcuda1')
    case 'arch':
      return command('sudo pacman -S nvidia-utils')
    case 'fedora':
      return command('sudo dnf install xorg-x11-drv-nvidia-cuda')
    default:
      return hands("install the libraries of NVIDIA's driver, of the same version as the module")
  }
}

function asked({ machine }: Facts, cuda: NonNullable<Facts['process']>['cuda']): Draft[] {
  if (!cuda.available)
    return [
      {
        id: `cuda-${cuda.state}`,
        severity: 'problem',
        title: cuda.message,
        evidence: cuda.facts.map((fact) => read('CUDA', fact)),
        steps: [hands(cuda.next)],
        closes: ['tier1'],
      },
    ]
  const seen = cuda.devices.flatMap((device) => checkDevice(device))
  const unseen = machine.gpus
    .filter(({ vendor, address }) => vendor === 'NVIDIA' && cuda.devices.every(({ bdf }) => bdf !== address))
    .map(({ address }): Draft => ({
      id: 'cuda-device-hidden',
      severity: 'problem',
      subjects: [address],
      title: `CUDA does not show the GPU at ${address} to this process`,
      cause: 'CUDA_VISIBLE_DEVICES, a container, or another driver may hide it.',
      evidence: [read('CUDA', cuda.message)],
      steps: [hands('make the GPU visible: CUDA_VISIBLE_DEVICES, or the options of the container')],
      closes: ['tier1'],
    }))
  return [
    {
      id: 'cuda',
      severity: 'ok',
      title: cuda.message,
      evidence: [read(cuda.library, `CUDA ${cuda.driverVersion}`)],
      opens: ['tier1'],
    },
    ...seen,
    ...unseen,
  ]
}

function checkDevice({ bdf, engine, canExportDmaBuf, name }: CudaDevice): Draft[] {
  const subjects = [bdf]
  return [
    ...engine.reasons.map(({ code, isBlocking, message, next }): Draft => ({
      id: `cuda-engine-${code}`,
      severity: isBlocking ? 'problem' : 'note',
      subjects,
      title: `${name}: ${message}`,
      evidence: [read('cudaStatus()', code)],
      steps: [instead(next)],
      closes: isBlocking ? ['tier1-cuda'] : [],
    })),
    canExportDmaBuf
      ? {
          id: 'cuda-dma-buf',
          severity: 'ok',
          subjects,
          title: `${name}: CUDA exports its memory as dma-buf`,
          evidence: [read('CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED', 1)],
          opens: ['tier2-dma-buf'],
        }
      : {
          id: 'cuda-no-dma-buf',
          severity: 'note',
          subjects,
          title: `${name}: CUDA does not export its memory as dma-buf`,
          cause: 'The open kernel module supports it; the CUDA library refuses it for most GeForce cards.',
          evidence: [read('CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED', 0)],
          steps: [instead('tier 1: through host memory, with one copy by the GPU')],
          closes: ['tier2-dma-buf'],
        },
  ]
}
