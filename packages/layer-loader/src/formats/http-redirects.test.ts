import { describe, expect, test } from 'vitest'
import { isPrivate } from './http-redirects.js'
import { openHttpSource, type HttpSourceOptions } from './index.js'

/** Servers by URL: each redirects to the given URL, or sends a byte if there is none. Records every request. */
function servers(redirects: Record<string, string>) {
  const requests: { url: string; key: string | null }[] = []
  const send: typeof fetch = (input, init) => {
    const url = (input as URL).href
    requests.push({ url, key: new Headers(init?.headers).get('x-api-key') })
    expect(init?.redirect).toBe('manual')
    const location = redirects[url]
    if (location !== undefined) return Promise.resolve(new Response('moved', { status: 302, headers: { location } }))
    return Promise.resolve(new Response('x', { status: 206, headers: { 'content-range': 'bytes 0-0/1' } }))
  }
  const open = (url: string, options: HttpSourceOptions = {}) =>
    openHttpSource(url, { fetch: send, headers: { 'x-api-key': 'secret' }, ...options })
  return { requests, open }
}

describe('headers of the caller', () => {
  test('headers of the caller are sent to a redirect of the same origin', async () => {
    const { requests, open } = servers({ 'https://a.test/m': '/n' })
    await open('https://a.test/m')
    expect(requests).toEqual([
      { url: 'https://a.test/m', key: 'secret' },
      { url: 'https://a.test/n', key: 'secret' },
    ])
  })

  test.each([
    ['another host', 'https://8.8.8.8/m'],
    ['another port', 'https://a.test:444/m'],
    ['another scheme', 'http://a.test/m'],
  ])('headers of the caller are not sent to a redirect to %s, nor after a redirect back', async (_, other) => {
    const { requests, open } = servers({ 'https://a.test/m': other, [other]: 'https://a.test/n' })
    await open('https://a.test/m', { allowPlainHttp: true, allowPrivateAddresses: true })
    expect(requests.map(({ key }) => key)).toEqual(['secret', null, null])
  })
})

describe('plain http', () => {
  test('plain http to another machine is rejected before any request is sent', async () => {
    const { requests, open } = servers({})
    await expect(open('http://a.test/m')).rejects.toMatchObject({
      code: 'ERR_GPUNVME_HTTP_INSECURE',
      category: 'usage',
      message: expect.stringContaining('allowPlainHttp') as string,
    })
    expect(requests).toEqual([])
  })

  test('plain http is accepted for this machine, and for others if allowed', async () => {
    const { open } = servers({})
    for (const host of ['localhost', '127.0.0.1:8080', '127.1', '[::1]:80']) await open(`http://${host}/m`)
    await open('http://a.test/m', { allowPlainHttp: true })
  })

  test('plain http is rejected as the target of a redirect from https', async () => {
    const { requests, open } = servers({ 'https://a.test/m': 'http://a.test/m' })
    await expect(open('https://a.test/m')).rejects.toMatchObject({ code: 'ERR_GPUNVME_HTTP_INSECURE' })
    expect(requests).toHaveLength(1)
  })
})

describe('a redirect to a private address', () => {
  test.each([
    '169.254.169.254',
    '10.1.2.3',
    '127.0.0.1',
    '0x7f.1',
    '192.168.0.1',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '[fd00::1]',
    'localhost',
  ])('a redirect to a private address is rejected: %s', async (host) => {
    const { requests, open } = servers({ 'https://a.test/m': `https://${host}/m` })
    await expect(open('https://a.test/m')).rejects.toMatchObject({
      code: 'ERR_GPUNVME_HTTP_PRIVATE_ADDRESS',
      category: 'privilege',
      message: expect.stringContaining('allowPrivateAddresses') as string,
    })
    expect(requests).toHaveLength(1)
  })

  test('a redirect to a private address is followed if allowed, or if the caller named the host', async () => {
    const { open } = servers({
      'https://a.test/m': 'https://10.0.0.1/m',
      'https://10.0.0.2/m': 'https://10.0.0.2:444/m',
    })
    await open('https://a.test/m', { allowPrivateAddresses: true })
    await open('https://10.0.0.2/m')
  })
})

test.each([
  ['https://a.test/m', /redirects more than 10 times/],
  ['file:///etc/passwd', /redirects to a URL of file:/],
  ['https://', /redirects to an invalid URL/],
])('rejects an endless or invalid redirect: %s', async (location, why) => {
  const { open } = servers({ 'https://a.test/m': location })
  const opening = open('https://a.test/m')
  await expect(opening).rejects.toMatchObject({ code: 'ERR_GPUNVME_HTTP_REDIRECT' })
  await expect(opening).rejects.toThrow(why)
})

test('isPrivate distinguishes public from private addresses', () => {
  const publicOnes = [
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ]
  const others = [
    '0.0.0.0',
    '172.16.0.1',
    '172.31.255.255',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    'fe80::1',
    '64:ff9b::a00:1',
  ]
  expect(publicOnes.filter(isPrivate)).toEqual([])
  expect(others.filter((address) => !isPrivate(address))).toEqual([])
})
