import { RamMedia, simulate } from '@gpunvme/nvme-sim'
import { beforeEach, expect, test, vi } from 'vitest'
import { ask } from '../command-line/ask.js'
import { testIo } from '../../test/gpunvme.js'
import { Output } from '../terminal/output.js'
import { confirmChange, confirmDrive, type ConfirmFlags } from './confirm-drive.js'

vi.mock('../command-line/ask.js', () => ({ ask: vi.fn(), canAsk: () => true }))

const output = new Output({}, testIo())
const said = vi.spyOn(output, 'error').mockImplementation(() => undefined)
const { signal } = new AbortController()

beforeEach(() => vi.mocked(ask).mockReset())

/** Returns 'confirmed', or the message of the rejection, for this serial number and input. */
async function confirm(serial: string | undefined, typed: string, flags: ConfirmFlags = {}): Promise<string> {
  vi.mocked(ask).mockResolvedValue(typed)
  const drive = { bdf: '0000:0b:00.0', serial, description: 'a drive', change: 'write to' }
  return confirmChange(drive, flags, output, signal).then(
    () => 'confirmed',
    (error: unknown) => (error as Error).message,
  )
}

test.each([undefined, '', ' '.repeat(20)])(
  'a drive with serial number %j is confirmed by its address',
  async (serial) => {
    expect(await confirm(serial, '')).toContain('the input does not match its PCI address')
    expect(await confirm(serial, '0000:0b:00.0')).toBe('confirmed')
    expect(await confirm(serial, 'never asked', { serial: '', yes: true })).toContain("its PCI address is not ''")
    expect(await confirm(serial, 'never asked', { serial: ' 0000:0b:00.0', yes: true })).toBe('confirmed')
  },
)

test('blanks around serial numbers are ignored', async () => {
  expect(await confirm(' S1  ', 'S1')).toBe('confirmed')
  expect(await confirm(' S1  ', 'never asked', { serial: 'S1 ', yes: true })).toBe('confirmed')
  expect(await confirm('S1', '')).toContain('the input does not match its serial number')
  expect(await confirm('S1', 'S1', { serial: 'S2' })).toContain("its serial number is not 'S2'")
})

test.each([{ serial: 'S2' }, { serial: 'S2', yes: true }, {}])(
  'a rejection with %o does not print the serial number of the drive',
  async (flags) => {
    const message = await confirm('SECRET1', '', flags)
    expect(message).not.toContain('SECRET1')
    expect(message).toContain('the serial number of the intended drive on its label, or by gpunvme list ADDRESS, then')
  },
)

test('--yes without --serial does not confirm, and the question is asked', async () => {
  expect(await confirm('S1', '', { yes: true })).toContain('the input does not match its serial number')
  expect(ask).toHaveBeenCalledOnce()
})

test('the question is asked with the abort signal of the session', async () => {
  await confirm('S1', 'S1')
  const question = 'Type its serial number (on its label, or by gpunvme list ADDRESS) to continue: '
  expect(ask).toHaveBeenCalledWith(question, output.io, signal)
})

test('neither the question nor any line before it shows the serial number', async () => {
  said.mockClear()
  expect(await confirm('SECRET1', 'SECRET1')).toBe('confirmed')
  expect(JSON.stringify([said.mock.calls, vi.mocked(ask).mock.calls.map(([question]) => question)])).not.toContain(
    'SECRET1',
  )
})

test.each([
  ['nothing', [], 'It has no known format'],
  ['a partition table', [510, 0x55, 0xaa], 'It has MBR'],
  ['bytes of unknown format', [4096, 1], 'It has no known format'],
])('the question lists the contents of a drive with %s', async (_, [at = 0, ...bytes], contents) => {
  vi.mocked(ask).mockResolvedValue('')
  const media = new RamMedia(8 * 1024 * 1024)
  media.write(at, Uint8Array.from(bytes))
  const { transport } = simulate({ profile: 'sn740', namespaces: [{ blockBytes: 512, media }] })
  const opened = { name: 'vfio', transport, time: 'modelled', link: undefined, serial: undefined } as const
  const confirming = confirmDrive({ ...opened, hostError: () => undefined, close: () => Promise.resolve() }, {}, output)
  await expect(confirming).rejects.toThrow(contents)
  expect(said).toHaveBeenLastCalledWith(expect.stringContaining('About to write to'), [contents])
})
