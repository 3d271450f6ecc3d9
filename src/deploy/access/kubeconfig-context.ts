/** A kubeconfig with one context more: the cloud's namespace on the cluster and as the user that are in use. Pure. */
import { isMap, isSeq, parseDocument } from 'yaml'

export interface KubeconfigContext {
  readonly name: string
  readonly cluster: string
  readonly user?: string
  readonly namespace: string
}

export type AddedContext =
  | { readonly kind: 'added'; readonly text: string }
  | { readonly kind: 'there' }
  | { readonly kind: 'taken' }

/** Comments, order and `current-context` stay as they are. */
export function addKubeconfigContext(text: string, { name, ...context }: KubeconfigContext): AddedContext {
  const document = parseDocument(text, { logLevel: 'error' })
  const contexts = document.get('contexts')
  const known = isSeq(contexts) ? contexts.items : []
  const found = known.find((one) => isMap(one) && one.get('name') === name)
  if (isMap(found)) {
    const there = (found.toJSON() as { readonly context?: Readonly<Record<string, unknown>> }).context
    const wanted: Readonly<Record<string, unknown>> = { ...context }
    const same = Object.keys(wanted).every((key) => there?.[key] === wanted[key])
    return { kind: same ? 'there' : 'taken' }
  }
  const entry = document.createNode({ name, context })
  if (isSeq(contexts)) contexts.add(entry)
  else document.set('contexts', document.createNode([{ name, context }]))
  return { kind: 'added', text: document.toString({ lineWidth: 0 }) }
}
