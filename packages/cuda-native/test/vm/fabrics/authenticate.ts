// Linux's host and target authenticate each other by DH-HMAC-CHAP, through the recording proxy. Prints the bytes of each
// connection as one line of JSON.
import { DhChapSuccess1 } from '@gpunvme/nvme-spec/fabrics'
import { ASSOCIATIONS } from './associations.js'
import { printConnections, RECORDED_PORT, startProxy, waitUntilSent } from './proxy.js'
import { authenticateAgain, connectHost, disconnectHost, makeTarget, requireAuthentication } from './target.js'

makeTarget()
await startProxy()
for (const { name, hash, group, keys, used, end } of ASSOCIATIONS) {
  requireAuthentication({
    ...{ dhchap_key: keys.host, dhchap_ctrl_key: keys.controller },
    ...{ dhchap_hash: `hmac(${hash})`, dhchap_dhgroup: group },
  })
  const mutual = used.controller === undefined ? '' : `,dhchap_ctrl_secret=${used.controller}`
  const error: unknown = await connectHost(RECORDED_PORT, `,dhchap_secret=${used.host}${mutual}`).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  const isRefused = end === 'refused'
  if ((error !== undefined) !== isRefused) throw new Error(`${name}: expected the end ${end}`, { cause: error })
  if (end === 'authenticated again') {
    await authenticateAgain(used.host)
    const { data } = DhChapSuccess1.create({ T_ID: 1, HL: 32 })
    await waitUntilSent(Buffer.from(data.buffer))
  }
  if (!isRefused) await disconnectHost()
  printConnections(name)
}
process.exit(0)
