import type { Controller, Namespace } from '@gpunvme/host-driver'

/** Returns a namespace of a controller, by default the first active one. */
export function namespaceOf<N extends Namespace>(controller: Controller<N>, nsid: number | undefined): N {
  return controller.namespace(nsid ?? controller.namespaces[0]?.identity.nsid ?? 1)
}
