export const KIB = 1024
export const MIB = 1024 * KIB
export const NS_PER_MS = 1e6
