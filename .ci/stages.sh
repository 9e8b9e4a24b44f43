# Stages: checks that do not need each other go side by side, each with a log of its own.

declare -A stages=()
stage_logs=$(mktemp -d)

# start NAME COMMAND...: in the background, as a group of processes, so that all of it can be ended.
start() {
    set -m
    "${@:2}" >"$stage_logs/$1" 2>&1 </dev/null &
    set +m
    stages[$1]=$!
}

# finish NAME...: waits for them, prints each log as a whole, and fails if one of them has failed.
finish() {
    local name code red=0
    for name; do
        code=0
        wait "${stages[$name]}" || code=$?
        if [ $code -eq 0 ]; then echo "== $name: passed"; else echo "== $name: FAILED, exit code $code" && red=1; fi
        cat "$stage_logs/$name"
        unset "stages[$name]"
    done
    return $red
}

# end_stages: nothing goes on in the background. For the EXIT trap of whoever starts stages.
end_stages() {
    local group
    for group in "${stages[@]}"; do kill -KILL -- "-$group" 2>/dev/null || true; done
    wait
    rm -rf "$stage_logs"
}
