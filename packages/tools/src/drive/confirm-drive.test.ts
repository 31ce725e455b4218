import { RamMedia, simulate } from '@gpunvme/nvme-sim'
import { beforeEach, expect, test, vi } from 'vitest'
import { ask } from '../terminal/ask.js'
import { testIo } from '../../test/gpunvme.js'
import { Output } from '../terminal/output.js'
import { confirmChange, confirmDrive, type ConfirmFlags } from './confirm-drive.js'

vi.mock('../terminal/ask.js', () => ({ ask: vi.fn(), canAsk: () => true }))

const output = new Output({}, testIo())
const said = vi.spyOn(output, 'error').mockImplementation(() => undefined)
const { signal } = new AbortController()

beforeEach(() => vi.mocked(ask).mockReset())

/** How it ends for a drive of that serial number when somebody types `typed`: 'confirmed', or why it is refused. */
async function confirm(serial: string | undefined, typed: string, flags: ConfirmFlags = {}): Promise<string> {
  vi.mocked(ask).mockResolvedValue(typed)
  const drive = { bdf: '0000:0b:00.0', serial, description: 'a drive', change: 'write to' }
  return confirmChange(drive, flags, output, signal).then(
    () => 'confirmed',
    (error: unknown) => (error as Error).message,
  )
}

test.each([undefined, '', ' '.repeat(20)])(
  'a drive of serial number %j is confirmed by its address alone',
  async (serial) => {
    expect(await confirm(serial, '')).toContain('the input does not match its PCI address')
    expect(await confirm(serial, '0000:0b:00.0')).toBe('confirmed')
    expect(await confirm(serial, 'never asked', { serial: '', yes: true })).toContain("its PCI address is not ''")
    expect(await confirm(serial, 'never asked', { serial: ' 0000:0b:00.0', yes: true })).toBe('confirmed')
  },
)

test('blanks around a serial number are not part of it, on the drive, on the terminal and in --serial', async () => {
  expect(await confirm(' S1  ', 'S1')).toBe('confirmed')
  expect(await confirm(' S1  ', 'never asked', { serial: 'S1 ', yes: true })).toBe('confirmed')
  expect(await confirm('S1', '')).toContain('the input does not match its serial number')
  expect(await confirm('S1', 'S1', { serial: 'S2' })).toContain("its serial number is not 'S2'")
})

test.each([{ serial: 'S2' }, { serial: 'S2', yes: true }, {}])(
  'a refusal after %o does not print the serial number of the drive',
  async (flags) => {
    const message = await confirm('SECRET1', '', flags)
    expect(message).not.toContain('SECRET1')
    expect(message).toContain('the serial number of the intended drive on its label, or by gpunvme status, then')
  },
)

test('--yes without --serial confirms no drive, and the question is still asked', async () => {
  expect(await confirm('S1', '', { yes: true })).toContain('the input does not match its serial number')
  expect(ask).toHaveBeenCalledOnce()
})

test('the question is asked with the signal of the session, so that an interrupt ends it', async () => {
  await confirm('S1', 'S1')
  const question = 'Type its serial number (on its label, or by gpunvme status) to continue: '
  expect(ask).toHaveBeenCalledWith(question, output.io, signal)
})

test('the question does not show the serial number that has to be typed, nor does any line before it', async () => {
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
])('asks for confirmation with the contents of a drive that holds %s', async (_, [at = 0, ...bytes], contents) => {
  vi.mocked(ask).mockResolvedValue('')
  const media = new RamMedia(8 * 1024 * 1024)
  media.write(at, Uint8Array.from(bytes))
  const { transport } = simulate({ profile: 'sn740', namespaces: [{ blockBytes: 512, media }] })
  const opened = { name: 'vfio', transport, time: 'modelled', link: undefined, serial: undefined } as const
  const confirming = confirmDrive({ ...opened, hostError: () => undefined, close: () => Promise.resolve() }, {}, output)
  await expect(confirming).rejects.toThrow(contents)
  expect(said).toHaveBeenLastCalledWith(expect.stringContaining('About to write to'), [contents])
})
