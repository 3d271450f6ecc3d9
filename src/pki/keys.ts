/** Generates and imports key pairs as PEM. ECDSA P-256 by default; RSA where a consumer needs it. */
import { createPrivateKey, createPublicKey, type KeyObject, webcrypto } from 'node:crypto'

export type KeyKind = 'ecdsa-p256' | 'rsa-2048' | 'rsa-4096'

type CryptoKeyPair = webcrypto.CryptoKeyPair
type CryptoKey = webcrypto.CryptoKey

const HASH = 'SHA-256'
const EXPONENT = new Uint8Array([1, 0, 1])

interface Algorithm {
  readonly generate: webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams
  readonly sign: { readonly name: string; readonly hash: string }
}

export function keyAlgorithm(kind: KeyKind): Algorithm {
  if (kind === 'ecdsa-p256') {
    return { generate: { name: 'ECDSA', namedCurve: 'P-256' }, sign: { name: 'ECDSA', hash: HASH } }
  }
  const modulusLength = kind === 'rsa-2048' ? 2048 : 4096
  const name = 'RSASSA-PKCS1-v1_5'
  return {
    generate: { name, modulusLength, publicExponent: EXPONENT, hash: HASH },
    sign: { name, hash: HASH },
  }
}

export async function generateKeys(kind: KeyKind): Promise<CryptoKeyPair> {
  const { generate } = keyAlgorithm(kind)
  return (await webcrypto.subtle.generateKey(generate, true, ['sign', 'verify'])) as CryptoKeyPair
}

export async function privateKeyPem(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString()
}

/** The kind and both halves of a private key in PEM (PKCS#8, SEC1 or PKCS#1). */
export async function importKeys(pem: string): Promise<{ readonly kind: KeyKind; readonly keys: CryptoKeyPair }> {
  const key = createPrivateKey(pem)
  const kind = detectKind(key)
  const { generate } = keyAlgorithm(kind)
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', key.export({ format: 'der', type: 'pkcs8' }), generate, true, ['sign']),
    webcrypto.subtle.importKey('spki', createPublicKey(key).export({ format: 'der', type: 'spki' }), generate, true, [
      'verify',
    ]),
  ])
  return { kind, keys: { privateKey, publicKey } }
}

function detectKind(key: KeyObject): KeyKind {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ecdsa-p256'
  if (type === 'rsa') return (details?.modulusLength ?? 0) > 2048 ? 'rsa-4096' : 'rsa-2048'
  throw new Error(`unsupported kind of private key: ${type} ${details?.namedCurve ?? ''}`.trim())
}
