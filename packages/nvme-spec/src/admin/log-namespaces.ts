import { struct, u32Array } from '../layout/index.js'

/**
 * Changed Attached Namespace List (LID 04h; Base 2.3 §5.2.12.1.5): namespaces attached, detached, deleted or with
 * changed Identify data since the page was last read; zero filled. A first entry of FFFFFFFFh means more than 1,024
 * namespaces.
 */
export const ChangedAttachedNamespaceList = struct(
  'Changed Attached Namespace List',
  { bytes: 4096, doc: 'Changed attached namespaces (LID 04h)', spec: 'Base 2.3 §5.2.12.1.5' },
  { NSID: u32Array(0, 1024, 'Namespace Identifiers') },
)

/** Changed Allocated Namespace List (LID 1Ch; Base 2.3 §5.2.12.1.27), in the same form. */
export const ChangedAllocatedNamespaceList = struct(
  'Changed Allocated Namespace List',
  { bytes: 4096, doc: 'Changed allocated namespaces (LID 1Ch)', spec: 'Base 2.3 §5.2.12.1.27' },
  { NSID: u32Array(0, 1024, 'Namespace Identifiers') },
)
