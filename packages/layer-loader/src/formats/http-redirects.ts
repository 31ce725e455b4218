import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { HttpSourceError } from './http-error.js'

const MAX_REDIRECTS = 10

/** Destinations that requests may have in addition to the origin of the given URL. */
export interface HttpPolicy {
  /** Allows http without TLS to other machines: the network path can read and modify it. Default: false. */
  readonly allowPlainHttp?: boolean
  /**
   * Allows redirects to other hosts with private addresses: loopback, link-local (cloud metadata services), RFC 1918 and
   * similar ranges. The host of the given URL is always allowed. Default: false.
   */
  readonly allowPrivateAddresses?: boolean
}

/** A request before any redirect. */
export interface HttpRequest {
  readonly url: URL
  /** Headers for the origin of `url` only, since they may contain credentials. */
  readonly ownHeaders: Readonly<Record<string, string>>
  /** Headers for every server. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Sends a GET request and follows the redirects that `policy` allows. After a redirect to another origin, `ownHeaders` are
 * not sent again, even if a later redirect returns to the first origin.
 *
 * The host name of a redirect is resolved for the check and again by `send`. A DNS answer that changes in between is not
 * detected.
 * @param name of the source, for errors.
 * @throws HttpSourceError with the problem REDIRECT, INSECURE or PRIVATE_ADDRESS; errors of `send`.
 */
export async function sendFollowing(
  send: typeof fetch,
  { url, ownHeaders, headers, signal }: HttpRequest,
  policy: HttpPolicy,
  name: string,
): Promise<Response> {
  let to = url
  let isOwn = true
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    requireTls(to, policy, name)
    const sent = isOwn ? { ...ownHeaders, ...headers } : headers
    const response = await send(to, { headers: sent, signal, redirect: 'manual' })
    const location = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get('location') : null
    if (location === null) return response
    await response.body?.cancel()
    to = targetOf(location, to, name)
    isOwn &&= to.origin === url.origin
    if (to.hostname !== url.hostname && policy.allowPrivateAddresses !== true) await refusePrivate(to, name, signal)
  }
  throw new HttpSourceError('REDIRECT', name, `it redirects more than ${MAX_REDIRECTS} times`)
}

/** @throws HttpSourceError for http to another machine, unless the policy allows that. */
export function requireTls(url: URL, policy: HttpPolicy, name: string): void {
  if (url.protocol === 'https:' || policy.allowPlainHttp === true || isLoopback(hostOf(url))) return
  throw new HttpSourceError('INSECURE', name, `${url.origin} is http without TLS`, { category: 'usage' })
}

function targetOf(location: string, from: URL, name: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (to !== undefined && /^https?:$/.test(to.protocol)) return to
  const problem = `${from.origin} redirects to ${to === undefined ? 'an invalid URL' : `a URL of ${to.protocol}`}`
  throw new HttpSourceError('REDIRECT', name, problem)
}

async function refusePrivate(to: URL, name: string, signal: AbortSignal): Promise<void> {
  const host = hostOf(to)
  const addresses = isIP(host) !== 0 ? [host] : await resolve(host, signal)
  const found = addresses.find(isPrivate)
  if (found === undefined) return
  const where = found === host ? host : `${host} (${found})`
  throw new HttpSourceError('PRIVATE_ADDRESS', name, `it redirects to a private address, ${where}`, {
    category: 'privilege',
  })
}

/** Returns the addresses of a name; none for a name that only a proxy can resolve, which `send` may still reach. */
async function resolve(host: string, signal: AbortSignal): Promise<string[]> {
  let abort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
  })
  try {
    signal.throwIfAborted()
    const found = await Promise.race([lookup(host, { all: true }), aborted])
    return found.map(({ address }) => address)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') return []
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Returns the host name, or the address without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Address ranges outside the public Internet (IANA registries, RFC 6890). */
const PRIVATE = new BlockList()
for (const subnet of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/127',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]) {
  const [network, prefix] = subnet.split('/') as [string, string]
  PRIVATE.addSubnet(network, Number(prefix), network.includes(':') ? 'ipv6' : 'ipv4')
}

/** Prefix of addresses that a NAT64 gateway translates: the last 32 bits are an IPv4 address (RFC 6052). */
const NAT64 = '64:ff9b::'

/** Returns whether an IP address is not public. IPv4-mapped and NAT64 addresses are checked as IPv4 addresses. */
export function isPrivate(address: string): boolean {
  if (isIP(address) !== 6) return PRIVATE.check(address, 'ipv4')
  const canonical = hostOf(new URL(`http://[${address}]`))
  const groups = canonical.startsWith(NAT64) ? canonical.slice(NAT64.length).split(':') : []
  if (groups.length !== 2) return PRIVATE.check(address, 'ipv6')
  const octets = groups.map((group) => parseInt(group, 16)).flatMap((word) => [word >> 8, word & 0xff])
  return PRIVATE.check(octets.join('.'), 'ipv4')
}
