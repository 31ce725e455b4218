/**
 * NVMe over Fabrics: Fabrics commands and responses, authentication messages, the Discovery log, and the PDUs of
 * NVMe/TCP. Declares structures and numbers; implements no protocol and no cryptography. Sections of the TCP and RDMA
 * Transport Specifications are those of revision 1.0.
 */
export * from './authentication.js'
export * from './commands.js'
export * from './discovery.js'
export * from './status.js'
export * from './tcp.js'
