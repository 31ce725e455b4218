import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { CudaUnavailableError } from '@gpunvme/cuda-native/cuda'
import { BindError } from '@gpunvme/host-driver/pci'
import { VfioUserLostError } from '@gpunvme/host-driver/vfio-user'
import { LoaderError, ModelNotInImageError } from '@gpunvme/layer-loader'
import { expect, test } from 'vitest'
import { testIo } from '../../test/gpunvme.js'
import { errorLines, errorText } from './error-text.js'
import { invocationOf } from '../terminal/invocation.js'
import { stepOf } from './step-of.js'
import { UsageError } from './tools-error.js'

test('stepOf an unsuitable engine suggests the option for another one', () => {
  const error = new EngineUnsuitableError('cuda', 'sim:sn740')
  expect(stepOf(error)).toEqual([
    'use --engine host, which supports all transports',
    'on a simulated drive, use --real-time',
  ])
  expect(stepOf(error, '--engines')).toMatchObject({ 0: 'use --engines host, which supports all transports' })
})

test('stepOf missing CUDA suggests the remedy and an engine without GPU', () => {
  const error = new CudaUnavailableError({
    state: 'no-device',
    message: 'The NVIDIA driver knows no GPU',
    facts: ['library libcuda.so.1'],
    next: 'give this process a GPU',
  })
  expect(errorLines(errorText(error, invocationOf(testIo())))).toEqual([
    'The NVIDIA driver knows no GPU',
    '  library libcuda.so.1',
    '  Try: give this process a GPU; or use --engine host, which needs no GPU',
  ])
})

test('stepOf an image without models suggests pack', () => {
  const command = ['pack', 'MODEL', '--image', 'FILE']
  expect(stepOf(new ModelNotInImageError(undefined, []))).toEqual({ command })
})

test('stepOf a failed slot allocation suggests options that need less memory', () => {
  const error = new LoaderError('ERR_GPUNVME_SLOT_MEMORY', 'infeasible', 'Cannot allocate 2 slots')
  expect(stepOf(error)).toMatchObject({
    0: 'lower --ram and --vram, so that fewer layers stay in memory',
  })
})

test('stepOf a damaged image suggests the command of its remedy', () => {
  const stale = new LoaderError('ERR_GPUNVME_IMAGE_STALE_COPY', 'verification', 'stale', { remedy: 'replace-model' })
  expect(stepOf(stale)).toEqual({
    command: ['pack', 'MODEL', '--image', 'FILE', '--replace'],
    note: 'which writes the model again',
  })
  const truncated = new LoaderError('ERR_GPUNVME_IMAGE_TRUNCATED', 'verification', 'truncated')
  expect(stepOf(truncated)).toMatchObject([
    'use the complete drive or file that the image was written to',
    { command: ['pack', 'MODEL', '--image', 'FILE', '--replace-image'] },
  ])
})

test('stepOf a concurrently changed image suggests the command that checks it', () => {
  const changed = new LoaderError('ERR_GPUNVME_IMAGE_CHANGED', 'failure', 'changed')
  expect(stepOf(changed)).toMatchObject({ command: ['models', 'verify', '--image', 'FILE'] })
})

test('stepOf a member of a set suggests no function', () => {
  const member = new LoaderError('ERR_GPUNVME_MEMBER_OF_SET', 'usage', 'a.img is a member of a set')
  expect(JSON.stringify(stepOf(member))).not.toContain('()')
})

test('stepOf a lost vfio-user target depends on the kind of loss', () => {
  expect(stepOf(new VfioUserLostError('d.sock', 'silent', 'VERSION', 10e9))).toEqual([
    'end its other client: it may serve only one at a time',
    'check the output of the target',
  ])
  expect(stepOf(new VfioUserLostError('d.sock', 'closed', 'REGION_WRITE', 10e9))).toMatchObject({
    command: ['sim', 'serve', '--socket', 'PATH'],
  })
  const broken = new VfioUserLostError('d.sock', 'broken', 'REGION_WRITE', 10e9)
  expect(stepOf(broken)).toBe(broken.next)
})

test('stepOf a failed unbind suggests the command that completes it', () => {
  const refused = new BindError('0000:0b:00.0', 'unbind nvme', { code: 'EROFS' })
  expect(stepOf(refused)).toBe(refused.next)
  const left = new BindError('0000:0b:00.0', 'unbind nvme', { code: 'EROFS' }, [refused])
  expect(stepOf(left)).toMatchObject({ first: refused.advice, command: ['unbind', '0000:0b:00.0'] })
})

test('stepOf returns the step of a UsageError, whose message has commands of the installed program', () => {
  const error = new UsageError('No such drive', { next: { command: ['list'], note: 'which shows the drives' } })
  expect(stepOf(error)).toBe(error.step)
  expect(error.message).toBe('No such drive\n  Try: gpunvme list, which shows the drives')
})

test('stepOf a file whose name is not UTF-8 suggests a link', () => {
  expect(stepOf(new UsageError('Cannot open model a\ufffd.gguf: no such file'))).toMatch(/ln -s/)
})
