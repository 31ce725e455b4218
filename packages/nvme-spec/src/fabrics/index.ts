/**
 * NVMe over Fabrics: Fabrics commands and responses, the Discovery log, and the PDUs of NVMe/TCP. Declares structures and
 * numbers; implements no protocol. Sections of the TCP and RDMA Transport Specifications are those of revision 1.0.
 */
export * from './commands.js'
export * from './discovery.js'
export * from './status.js'
export * from './tcp.js'
