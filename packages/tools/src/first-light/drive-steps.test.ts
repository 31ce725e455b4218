import { profiles, RamMedia, simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { identifyDrive } from './drive-steps.js'
import type { Secrets } from './redact.js'

const bdf = '0000:0b:00.0'

/** Runs the step on a simulated drive with serial number S64DMX0T. */
async function identify(serial: string | undefined): Promise<Partial<Secrets>[]> {
  const profile = { ...profiles.ideal, identify: { SN: 'S64DMX0T', MN: 'Example', FR: '1.0' } }
  const { transport } = simulate({ profile, namespaces: [{ blockBytes: 512, media: new RamMedia(1024 * 1024) }] })
  const secrets: Partial<Secrets>[] = []
  try {
    await identifyDrive(
      transport,
      { bdf, serial },
      (each) => secrets.push(each),
      () => undefined,
    )
  } finally {
    await transport.close()
  }
  return secrets
}

test('identifyDrive rejects a drive with another serial number than --serial', async () => {
  await expect(identify('OTHER9988')).rejects.toMatchObject({
    code: 'ERR_GPUNVME_NOT_CONFIRMED',
    headline: `${bdf} is not the drive of --serial`,
  })
})

test.each([undefined, ' S64DMX0T '])(
  'identifyDrive accepts --serial %s, and registers the identifiers',
  async (serial) => {
    const [secrets] = await identify(serial)
    expect(secrets!.identifiers).toContain('S64DMX0T')
  },
)
