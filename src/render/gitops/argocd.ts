/** Argo CD: waves on the objects, and the health of their kinds. */
import type { KubeObject } from '../../api/object.ts'
import { formatLua, healthRules } from './health.ts'
import { type Layer, layers } from './layers.ts'

const WAVE = 'argocd.argoproj.io/sync-wave'
const OPTIONS = 'argocd.argoproj.io/sync-options'

/** The object with its wave. Clouds share their waves: they wait for what is shared, not for each other. */
export function addSyncWave(object: KubeObject, layer: Layer, shared: boolean): KubeObject {
  const wave = layers.indexOf(layer) + (shared ? 0 : 1)
  // A kind whose operator comes in an earlier wave is not served yet when Argo CD plans the sync.
  const options = 'ServerSideApply=true,SkipDryRunOnMissingResource=true'
  const annotations = { ...object.metadata.annotations, [WAVE]: String(wave), [OPTIONS]: options }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** For Argo CD's own configuration: applied on the server's side it adds its keys to what is there. */
export function argocdHealth(): KubeObject {
  const data = healthRules.map((rule) => {
    const group = rule.apiVersion.split('/')[0] ?? ''
    return [`resource.customizations.health.${group}_${rule.kind}`, formatLua(rule)]
  })
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm', namespace: 'argocd', labels: { 'app.kubernetes.io/part-of': 'argocd' } },
    data: Object.fromEntries(data) as Readonly<Record<string, string>>,
  }
}
