/**
 * Renders the Argo CD objects that sync a tree from a Git repository: an Application for what is shared, and an
 * ApplicationSet with one Application for each folder of a cloud.
 *
 * Nothing is pruned, and deleting an Application deletes nothing: `stackloom down` removes a cloud in the right order.
 */
import type { KubeObject } from '../../api/object.ts'
import { addOwnershipLabels } from '../labels.ts'

/** The namespace of OpenShift GitOps, and the name of its ArgoCD resource there. */
export const OPENSHIFT_GITOPS = 'openshift-gitops'

const REVISION = 'HEAD'

export function argocdApplications(
  site: string,
  repository: string,
  /** Argo CD reads Applications of its own namespace. */
  namespace = 'argocd',
): readonly KubeObject[] {
  const shared = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: `${site}-shared`, namespace, annotations: compareOptions },
    spec: applicationSpec(repository, 'shared'),
  }
  const applicationSet = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name: `${site}-clouds`, namespace },
    spec: {
      goTemplate: true,
      goTemplateOptions: ['missingkey=error'],
      // A cloud that joins the tree gets its Application without another apply of this file.
      generators: [{ git: { repoURL: repository, revision: REVISION, directories: [{ path: 'clouds/*' }] } }],
      syncPolicy: { preserveResourcesOnDeletion: true },
      template: {
        metadata: { name: `${site}-{{.path.basename}}`, annotations: compareOptions },
        spec: applicationSpec(repository, '{{.path.path}}'),
      },
    },
  }
  return [shared, applicationSet].map((object) => addOwnershipLabels(object, { site }))
}

/** The API server computes the difference, without what mutating webhooks add: the operators' webhooks set defaults. */
const compareOptions = { 'argocd.argoproj.io/compare-options': 'ServerSideDiff=true' }

function applicationSpec(repoURL: string, path: string): Readonly<Record<string, unknown>> {
  return {
    project: 'default',
    source: { repoURL, targetRevision: REVISION, path },
    destination: { server: 'https://kubernetes.default.svc' },
    syncPolicy: {
      automated: { prune: false, selfHeal: true },
      syncOptions: ['ServerSideApply=true', 'SkipDryRunOnMissingResource=true', 'RespectIgnoreDifferences=true'],
      // For an hour: the first sync of a cloud fails until the operators of `shared` serve their kinds. Not for longer,
      // because Argo CD repeats a sync with its commit and takes a newer one, such as the correction, after the last attempt.
      retry: { limit: 30, backoff: { duration: '30s', factor: 2, maxDuration: '2m' } },
    },
    ignoreDifferences,
  }
}

/** What controllers write into objects that the tree has. */
const ignoreDifferences = [
  // Container images and defaults; `manager` is the field manager of every operator that is built with kubebuilder.
  { group: 'core.openstack.org', kind: 'OpenStackControlPlane', managedFieldsManagers: ['manager'] },
  { group: 'core.openstack.org', kind: 'OpenStackVersion', managedFieldsManagers: ['manager'] },
  { group: 'dataplane.openstack.org', kind: 'OpenStackDataPlaneNodeSet', managedFieldsManagers: ['manager'] },
  { group: 'dataplane.openstack.org', kind: 'OpenStackDataPlaneDeployment', managedFieldsManagers: ['manager'] },
  // The webhook of nmstate records when it saw the policy.
  {
    group: 'nmstate.io',
    kind: 'NodeNetworkConfigurationPolicy',
    jsonPointers: ['/metadata/annotations/nmstate.io~1webhook-mutating-timestamp'],
  },
  // OpenShift allocates the UIDs and SELinux labels of a namespace.
  {
    group: '',
    kind: 'Namespace',
    jsonPointers: ['mcs', 'supplemental-groups', 'uid-range'].map(
      (key) => `/metadata/annotations/openshift.io~1sa.scc.${key}`,
    ),
  },
]
