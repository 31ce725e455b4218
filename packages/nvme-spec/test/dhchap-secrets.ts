/** NVMe Qualified Names of the host and the NVM subsystem in recordings of NVMe/TCP. */
export const NQNS = {
  host: 'nqn.2014-08.org.nvmexpress:uuid:00112233-4455-6677-8899-aabbccddeeff',
  subsystem: 'nqn.2026-11.org.gpunvme:recorded',
}

/** Secrets as `nvme gen-dhchap-key` prints them: a hash function for the key, then the secret and its CRC-32 in base64. */
export interface Secrets {
  readonly host: string
  readonly controller: string
}

/** Secrets of 32 bytes, from 00h and from 80h upwards, which are used as keys without transformation. */
export const PLAIN: Secrets = {
  host: 'DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:',
  controller: 'DHHC-1:00:gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp9vmVbU:',
}

/** Secrets of 48 bytes, from 00h and from 80h upwards, which SHA-384 transforms into keys. */
export const TRANSFORMED: Secrets = {
  host: 'DHHC-1:02:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcSEgBQ==:',
  controller: 'DHHC-1:02:gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlZaXmJmam5ydnp+goaKjpKWmp6ipqqusra6vkk6Jzw==:',
}

/** A secret that neither party has: 32 bytes of EEh. */
export const WRONG = 'DHHC-1:00:7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u5+3i9a:'
