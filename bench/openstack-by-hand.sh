# Starts a cloud with all services and a compute host on one host, each step after the one before, as a person would with the
# same packages. Prints `token` when keystone gives the first one, and `compute` when nova has a hypervisor that is up.
#
#     bash openstack-by-hand.sh PASSWORD
set -euo pipefail
password=$1
here=127.0.0.1

as() {
  local user=$1
  shift
  HOME=/var/lib/$user setpriv --reuid="$user" --regid="$user" --init-groups "$@"
}
run() { "$@" >"/tmp/step.log" 2>&1 || { tail -n 5 /tmp/step.log >&2; echo "$*" >&2; exit 1; }; }
serve() {
  local name=$1
  shift
  "$@" >"/tmp/$name.log" 2>&1 &
}
await() { until "$@" >/dev/null 2>&1; do sleep 0.2; done; }
configure() {
  mkdir -p "/etc/$1/$1.conf.d"
  cat >"/etc/$1/$1.conf.d/50.conf"
}
database() { echo "connection = mysql+pymysql://$1:$password@$here/${2:-$1}"; }
account() {
  cat <<END
auth_type = password
auth_url = http://$here:5000/v3
username = $1
password = $password
project_name = service
project_domain_name = Default
user_domain_name = Default
region_name = regionOne
END
}
accept_tokens() { printf '[keystone_authtoken]\nwww_authenticate_uri = http://%s:5000/v3\n' "$here" && account "$1"; }
bus="transport_url = rabbit://openstack:$password@$here:5672/"
web() {
  serve "$1" as "$1" uwsgi_python3 --http-socket "$here:$2" --plugins python3 --master --processes 1 --threads 8 \
    --lazy-apps --enable-threads --buffer-size 65535 --rem-header Content-Length --wsgi-file "$3"
}
login='{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": "admin", "domain": {"id": "default"},
  "password": "'$password'"}}}, "scope": {"project": {"name": "admin", "domain": {"id": "default"}}}}}'
token() {
  curl -sf -o /dev/null -D - -H 'Content-Type: application/json' -d "$login" "http://$here:5000/v3/auth/tokens" |
    sed -n 's/^x-subject-token: //Ip' | tr -d '\r'
}
has_token() { [ -n "$(token)" ]; }
ask_nova() { curl -sf -H "X-Auth-Token: $(token)" "http://$here:8774/v2.1/$1"; }
has_service() { ask_nova 'os-services?binary=nova-compute' | grep -q '"state": "up"'; }
has_hypervisor() { ask_nova os-hypervisors | grep -q '"state": "up"'; }

# The database, the cache and the message bus.
mkdir -p /run/mysqld /run/ovn /var/log/ovn /var/lib/neutron/tmp /var/lib/nova/tmp
chown mysql: /run/mysqld
chown neutron: /var/lib/neutron/tmp
chown nova: /var/lib/nova/tmp
printf '[mysqld]\nskip-name-resolve = 1\nmax_connections = 300\n' >/etc/mysql/mariadb.conf.d/99.cnf
echo NODENAME=rabbit@localhost >/etc/rabbitmq/rabbitmq-env.conf
serve mariadb mariadbd --user=mysql
serve memcached memcached -u memcache -l "$here"
HOME=/var/lib/rabbitmq serve rabbitmq /usr/sbin/rabbitmq-server
await mariadb-admin ping
for pair in keystone placement glance neutron nova nova:nova_api nova:nova_cell0; do
  echo "CREATE DATABASE ${pair#*:} CHARACTER SET utf8mb3;"
  echo "GRANT ALL ON ${pair#*:}.* TO '${pair%:*}'@'%' IDENTIFIED BY '$password';"
done | mariadb

# Keystone, up to a token.
{
  echo '[database]' && database keystone
  printf '[cache]\nenabled = true\nbackend = dogpile.cache.memcached\nmemcache_servers = %s:11211\n' "$here"
} | configure keystone
run as keystone keystone-manage db_sync
for step in fernet_setup credential_setup; do
  run as keystone keystone-manage $step --keystone-user keystone --keystone-group keystone
done
export OS_BOOTSTRAP_PASSWORD=$password
run as keystone keystone-manage bootstrap --bootstrap-region-id regionOne \
  --bootstrap-public-url "http://$here:5000/v3" --bootstrap-internal-url "http://$here:5000/v3"
web keystone 5000 /usr/bin/keystone-wsgi-public
await has_token
echo token

# The catalogue.
export OS_AUTH_URL=http://$here:5000/v3 OS_USERNAME=admin OS_PASSWORD=$password OS_PROJECT_NAME=admin
export OS_USER_DOMAIN_NAME=Default OS_PROJECT_DOMAIN_NAME=Default OS_IDENTITY_API_VERSION=3
{
  echo project create service
  echo role create service
  for service in placement:placement:8778 glance:image:9292 neutron:network:9696 nova:compute:8774/v2.1; do
    IFS=: read -r name type port <<<"$service"
    echo user create --project service --password "$password" "$name"
    for role in admin service; do echo role add --project service --user "$name" $role; done
    echo service create --name "$name" "$type"
    for interface in internal public; do
      echo endpoint create --region regionOne "$name" $interface "http://$here:$port"
    done
  done
} >/tmp/catalogue
run openstack </tmp/catalogue

# Tables.
{
  echo '[placement_database]' && database placement
  printf '[api]\nauth_strategy = keystone\n'
  accept_tokens placement
} | configure placement
run as placement placement-manage db sync
{
  printf '[DEFAULT]\nworkers = 1\nenabled_backends = file:file\n[glance_store]\ndefault_backend = file\n'
  printf '[file]\nfilesystem_store_datadir = /var/lib/glance/images\n[paste_deploy]\nflavor = keystone\n[database]\n'
  database glance
  accept_tokens glance
} | configure glance
run as glance glance-manage db_sync
{
  printf '[DEFAULT]\n%s\nmy_ip = %s\nstate_path = /var/lib/nova\ncompute_driver = fake.FakeDriver\n' "$bus" "$here"
  printf 'osapi_compute_workers = 1\nmetadata_workers = 1\n[oslo_concurrency]\nlock_path = /var/lib/nova/tmp\n'
  printf '[conductor]\nworkers = 1\n[scheduler]\nworkers = 1\n[vnc]\nenabled = false\n'
  echo '[api_database]' && database nova nova_api
  echo '[database]' && database nova
  for client in placement glance neutron; do echo "[$client]" && account $client; done
  printf '[service_user]\nsend_service_user_token = true\n' && account nova
  accept_tokens nova
} | configure nova
run as nova nova-manage api_db sync
run as nova nova-manage cell_v2 map_cell0 --database_connection "mysql+pymysql://nova:$password@$here/nova_cell0"
run as nova nova-manage cell_v2 create_cell --name cell1
run as nova nova-manage db sync
{
  printf '[DEFAULT]\n%s\ncore_plugin = ml2\nservice_plugins = ovn-router\napi_workers = 1\nrpc_workers = 0\n' "$bus"
  printf '[oslo_concurrency]\nlock_path = /var/lib/neutron/tmp\n[ml2]\ntype_drivers = local,flat,vlan,geneve\n'
  printf 'tenant_network_types = geneve\nmechanism_drivers = ovn\nextension_drivers = port_security\n'
  printf '[ml2_type_geneve]\nvni_ranges = 1:65536\nmax_header_size = 38\n'
  printf '[ovn]\novn_nb_connection = tcp:%s:6641\novn_sb_connection = tcp:%s:6642\n' "$here" "$here"
  echo '[database]' && database neutron
  echo '[nova]' && account nova
  accept_tokens neutron
} | configure neutron
neutron=(--config-file /etc/neutron/neutron.conf --config-file /etc/neutron/plugins/ml2/ml2_conf.ini
  --config-dir /etc/neutron/neutron.conf.d)
run as neutron neutron-db-manage "${neutron[@]}" upgrade heads

# The services, and nova-compute.
run rabbitmqctl await_startup
run rabbitmqctl add_user openstack "$password"
run rabbitmqctl set_permissions openstack '.*' '.*' '.*'
run /usr/share/ovn/scripts/ovn-ctl --db-nb-create-insecure-remote=yes --db-sb-create-insecure-remote=yes start_northd
web placement 8778 /usr/bin/placement-api
serve glance as glance glance-api
serve neutron as neutron neutron-server "${neutron[@]}"
for service in nova-conductor nova-scheduler nova-api; do serve $service as nova $service; done
for port in 8778 9292 9696 8774; do await curl -s "http://$here:$port/"; done
serve nova-compute as nova nova-compute
await has_service
run as nova nova-manage cell_v2 discover_hosts
await has_hypervisor
echo compute
