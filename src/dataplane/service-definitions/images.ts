/**
 * Images of a service: from the environment when the object is made, and from then on whatever stands in it.
 *
 * One function for the webhook, which fills them in at creation, and for the controller, which does where no webhook is
 * asked.
 */

/** For each field: the variables that may name the image, and what holds without them. */
export type ServiceImages = Readonly<
  Record<string, { readonly variables: readonly string[]; readonly otherwise: string }>
>

export type Environment = Readonly<Record<string, string | undefined>>

/** The fields that are missing in the spec, with what goes in. Nothing that is there is touched. */
export function missingImages(
  images: ServiceImages,
  spec: Readonly<Record<string, unknown>>,
  env: Environment,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(images).flatMap(([field, { variables, otherwise }]) =>
      spec[field] ? [] : [[field, variables.map((name) => env[name]).find(Boolean) ?? otherwise]],
    ),
  )
}

/** The image that Ansible runs in. Upstream named its variable after nova alone, and so do we, for every service. */
export const runnerImage: ServiceImages[string] = {
  variables: ['RELATED_IMAGE_NOVA_ANSIBLE_EE_IMAGE_URL_DEFAULT', 'NOVA_ANSIBLE_EE_IMAGE_URL_DEFAULT'],
  otherwise: 'quay.io/openstack-k8s-operators/openstack-ansibleee-runner:latest',
}

/** `NOVA_COMPUTE`, `openstack-nova-compute` */
export function serviceImage(variable: string, image: string): ServiceImages[string] {
  return {
    variables: [`RELATED_IMAGE_${variable}_IMAGE_URL_DEFAULT`, `${variable}_IMAGE_URL_DEFAULT`],
    otherwise: `quay.io/podified-antelope-centos9/${image}:current-podified`,
  }
}
