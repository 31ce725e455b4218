import { PLAIN, TRANSFORMED, WRONG, type Secrets } from '../../../../nvme-spec/test/dhchap-secrets.js'

/** One configuration of the target, and the secrets at the host. */
export interface Association {
  readonly name: string
  readonly hash: 'sha256' | 'sha384' | 'sha512'
  readonly group: 'null' | 'ffdhe2048'
  /** Secrets at the target. */
  readonly keys: Secrets
  /** Secrets at the host. Without one of the controller, the host does not authenticate the controller. */
  readonly used: { readonly host: string; readonly controller?: string }
  /** How it ends: with both connected, after another authentication by the same controller, or with a failure. */
  readonly end: 'connected' | 'authenticated again' | 'refused'
}

/** What the guest records, in this order. */
export const ASSOCIATIONS: readonly Association[] = [
  {
    ...{ name: 'host', hash: 'sha256', group: 'null', end: 'authenticated again' },
    ...{ keys: PLAIN, used: { host: PLAIN.host } },
  },
  {
    ...{ name: 'host and controller', hash: 'sha384', group: 'null', end: 'connected' },
    ...{ keys: TRANSFORMED, used: TRANSFORMED },
  },
  {
    ...{ name: 'Diffie-Hellman', hash: 'sha512', group: 'ffdhe2048', end: 'connected' },
    ...{ keys: PLAIN, used: PLAIN },
  },
  {
    ...{ name: 'wrong host key', hash: 'sha256', group: 'null', end: 'refused' },
    ...{ keys: PLAIN, used: { host: WRONG } },
  },
  {
    ...{ name: 'wrong controller key', hash: 'sha256', group: 'null', end: 'refused' },
    ...{ keys: PLAIN, used: { host: PLAIN.host, controller: WRONG } },
  },
]
