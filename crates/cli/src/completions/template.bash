# Completions of tagmac for bash

_tagmac() {
    local IFS=$' \t\n' command= kind= word= joined= plain= current=
    local -a kinds=()
    local -i i operands=0
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]} current=$word
        if [[ $word == [=:]* ]]; then
            # Bash splits words here: the value of an option follows, or the rest of the same word.
            current=
            if [[ $word == '=' && ${COMP_WORDS[i-1]} == --* ]] && ((${#kinds[@]})); then
                kind=${kinds[0]}
            else
                joined=1
            fi
        elif [[ -n $joined ]]; then
            joined=
        elif ((${#kinds[@]})); then
            kind=${kinds[0]}
            kinds=("${kinds[@]:1}")
        elif [[ -z $plain && $word == -* ]]; then
            _tagmac_option "$command" "$word"
            [[ $word != -- ]] || plain=1
        elif [[ -z $command ]]; then
            _tagmac_operand '' 0
            command=$word
        else
            _tagmac_operand "$command" "$operands"
            operands+=1
        fi
    done
    COMPREPLY=()
    case $kind in
    files)
        # Readline completes the name, by -o default.
        return
        ;;
    folders)
        compopt +o bashdefault +o default -o dirnames 2>/dev/null
        return
        ;;
    nothing) kind= ;;
    esac
    # Bash 3 has no compopt, and offers files too.
    compopt +o bashdefault +o default 2>/dev/null
    for word in $kind; do
        [[ $word != "$current"* ]] || COMPREPLY+=("$word")
    done
}

# The options of a command, and the values that one of them needs.
_tagmac_option() {
    case $1 in
OPTIONS    esac
    case "$1 $2" in
VALUES    esac
}

# The kind of a command's operand at this position.
_tagmac_operand() {
    case "$1 $2" in
OPERANDS    *) kind=nothing ;;
    esac
}

complete -o bashdefault -o default -F _tagmac tagmac
