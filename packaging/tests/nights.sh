#!/bin/sh
# Runs on the machine that scripts/test-packaging boots. Prints the lines of nights.txt.
unit=tagmac-audit@photos.service
state() { systemctl show -P Result -P ExecMainStatus $unit | paste -sd' '; }
start() { systemctl start $unit 2>/dev/null; echo "$1: $? $(state)"; }
start unchanged
stat -c 'state: %a' /var/lib/tagmac-audit/photos/
systemctl start tagmac-audit@sandbox.service
systemctl start tagmac-audit@bucket.service
echo changed >'/srv/my photos/2025/a.jpg'
start changed
while [ ! -e /mailed ]; do sleep 0.05; done
grep -E 'mail:|a.jpg|warning' /mailed
echo 'a photograph' >'/srv/my photos/2025/a.jpg'
cp /etc/tagmac/other.key /etc/tagmac/photos.key
start 'other key'
cp /etc/tagmac/sandbox.key /etc/tagmac/photos.key
mv /etc/tagmac/photos.manifest /etc/tagmac/away
start 'no manifest'
mv /etc/tagmac/away /etc/tagmac/photos.manifest
systemctl reset-failed $unit
# The machine was off for a day.
mkdir -p /var/lib/systemd/timers
touch -d '2 days ago' /var/lib/systemd/timers/stamp-tagmac-audit@photos.timer
systemctl start tagmac-audit@photos.timer
until systemctl show -P ActiveState $unit | grep -qxE 'inactive|failed' &&
    [ "$(systemctl show -P ExecMainExitTimestampMonotonic $unit)" != 0 ]; do sleep 0.05; done
echo "timer: $(state)"
