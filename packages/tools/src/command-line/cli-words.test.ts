import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { CudaUnavailableError } from '@gpunvme/cuda-native/cuda'
import { VfioUserLostError } from '@gpunvme/host-driver/vfio-user'
import { ModelNotInImageError } from '@gpunvme/layer-loader'
import { expect, test } from 'vitest'
import { inCliWords } from './cli-words.js'

test('an engine that cannot drive a transport: another one, as an option', () => {
  const words = inCliWords(new EngineUnsuitableError('cuda', 'sim:sn740')).split('\n')
  expect(words[0]).toBe("The engine 'cuda' cannot drive the transport 'sim:sn740': its registers are not memory")
  expect(words.at(-1)).toBe('  Try: --engine host, which drives every transport; or, on a simulated drive, --real-time')
})

test('an image that holds no models: what packs one', () => {
  const words = inCliWords(new ModelNotInImageError(undefined, [])).split('\n')
  expect(words).toEqual([
    'The image holds no models',
    '  models: none',
    '  Try: gpunvme pack MODEL --image FILE, or --drive ADDRESS',
  ])
})

test('without a GPU: the engine that was asked for, what is missing, and another one, as an option', () => {
  const error = new CudaUnavailableError({
    state: 'no-device',
    message: 'The NVIDIA driver knows no GPU',
    facts: ['library libcuda.so.1'],
    next: "give this process a GPU; or leave `engine` out of Controller.open: the driver's own engine runs everywhere",
  })
  expect(inCliWords(error)).toBe(
    "The engine 'cuda' is not to be had: The NVIDIA driver knows no GPU\n  library libcuda.so.1\n" +
      '  Try: give this process a GPU; or --engine host, which needs no GPU',
  )
})

test('a target that is silent may be busy with another client, and one that has closed is started again', () => {
  const silent = new VfioUserLostError('d.sock', 'silent', 'VERSION', 10e9)
  expect(inCliWords(silent).split('\n')).toEqual([
    'The target at d.sock gave no whole answer for 10000 ms, during VERSION: it may have another client',
    '  Try: end its other client, as it may serve one at a time; or see what the target itself says',
  ])
  const closed = new VfioUserLostError('d.sock', 'closed', 'REGION_WRITE', 10e9)
  expect(inCliWords(closed).split('\n').slice(1)).toEqual([
    '  Try: see what the target itself says, start it again (gpunvme sim serve), and repeat this',
  ])
})
