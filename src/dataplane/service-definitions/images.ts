/**
 * Resolves the images of a service: from the environment at creation, and from the object afterwards.
 *
 * The webhook sets them at creation; the controller does where no webhook is called.
 */

/** For each field: the environment variables that may name the image, and its default. */
export type ServiceImages = Readonly<
  Record<string, { readonly variables: readonly string[]; readonly otherwise: string }>
>

export type Environment = Readonly<Record<string, string | undefined>>

/** Values for the fields that are missing in the spec. */
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

/** The image that Ansible runs in. Upstream's variable is named after nova; all services use it. */
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
